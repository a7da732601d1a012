#!/bin/sh
# As the official image does: arguments that are options go to nats-server.
set -e
case "$1" in
-*) set -- nats-server "$@" ;;
esac
exec "$@"
