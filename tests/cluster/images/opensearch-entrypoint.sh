#!/bin/bash
# Every variable of the environment that has a dot in its name is a setting, as with the official image.
set -euo pipefail
home=/usr/share/opensearch
settings=(network.host=0.0.0.0 http.port=9200 transport.port=9300 "path.data=$home/data" "path.logs=$home/logs")
while IFS= read -r -d '' variable; do
	if [[ $variable =~ ^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+= ]]; then
		settings+=("$variable")
	fi
done </proc/$$/environ
# shellcheck disable=SC2086 -- they are several
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dfile.encoding=UTF-8 -Djava.awt.headless=true -Djna.nosys=true \
	-Dio.netty.noUnsafe=true -Dio.netty.noKeySetOptimization=true -Dio.netty.recycler.maxCapacityPerThread=0 \
	-Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true -Djava.io.tmpdir=/tmp \
	"-Dlog4j2.configurationFile=$home/log4j2.properties" ${OPENSEARCH_JAVA_OPTS:-} \
	-cp "$home/classes:$home/lib/*" TestNode /tmp/node "${settings[@]}"
