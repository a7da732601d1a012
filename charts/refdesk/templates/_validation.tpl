{{/* What the schema cannot say: each fails the render and names what to change. */}}

{{- define "refdesk.validate" -}}
{{- include "refdesk.validateConfig" . -}}
{{- include "refdesk.validateEngines" . -}}
{{- include "refdesk.validateComponents" . -}}
{{- include "refdesk.validateEntry" . -}}
{{- end -}}

{{- define "refdesk.validateConfig" -}}
{{- if hasKey .Values.config "projects" -}}
{{- fail "config.projects: declare projects under projects, not under config" -}}
{{- end -}}
{{- $projects := include "refdesk.projects" . | fromYaml -}}
{{- range $slug, $project := $projects -}}
{{- if has $slug (list "docs" "all" "health" "api") -}}
{{- fail (printf "projects.%s: %s is a reserved name; call the project something else" $slug $slug) -}}
{{- end -}}
{{- range $project.surfaces -}}
{{- if not (has . (list "docs" "site" "procedures" "notes" "connector" "all")) -}}
{{- fail (printf "projects.%s.surfaces: no surface %s is served; valid: docs, site, procedures, notes, connector, all" $slug .) -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range $project.sources -}}
{{- if has .name $names }}{{ fail (printf "projects.%s.sources: two sources are called %s; give each a name of its own" $slug .name) }}{{ end -}}
{{- $names = append $names .name -}}
{{- $kind := default "folder" .kind -}}
{{- if and (eq $kind "folder") (not .path) -}}
{{- fail (printf "projects.%s.sources: source %s of kind folder needs path, the folder that it follows, and a volume there: components.ingest.extraVolumes" $slug .name) -}}
{{- end -}}
{{- if and (eq $kind "folder") (not $.Values.components.ingest.extraVolumeMounts) -}}
{{- fail (printf "projects.%s.sources: source %s follows a folder: mount it with components.ingest.extraVolumes and extraVolumeMounts" $slug .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.test.project (not (hasKey $projects .Values.test.project)) -}}
{{- fail (printf "test.project %s is not declared: name one of projects: %s" .Values.test.project (keys $projects | sortAlpha | join ", ")) -}}
{{- end -}}
{{- include "refdesk.refuseOverlap" (dict "own" (include "refdesk.ownSettings" . | fromYaml) "given" .Values.config "at" "config") -}}
{{- end -}}

{{/* Fails where `config` names what the chart decides: dict "own" "given" "at" */}}
{{- define "refdesk.refuseOverlap" -}}
{{- $at := .at -}}{{- $own := .own -}}
{{- range $key, $value := .given -}}
{{- $here := printf "%s.%s" $at $key -}}
{{- if and (hasKey $own $key) (ne $here "config.gateway.allowed_hosts") -}}
{{- $inner := get $own $key -}}
{{- if and (kindIs "map" $inner) (kindIs "map" $value) -}}
{{- include "refdesk.refuseOverlap" (dict "own" $inner "given" $value "at" $here) -}}
{{- else -}}
{{- fail (printf "%s is the chart's to set: remove it, and use engines, sessions, adminKey, mtls or components" $here) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "refdesk.validateEngines" -}}
{{- range $name, $engine := .Values.engines -}}
{{- if and (eq $engine.mode "external") (not $engine.url) -}}
{{- fail (printf "engines.%s.mode is external: set engines.%s.url to its address" $name $name) -}}
{{- end -}}
{{- if and (ne $engine.mode "external") $engine.url -}}
{{- fail (printf "engines.%s.url is set, but engines.%s.mode is %s: set the mode to external, or remove the url" $name $name $engine.mode) -}}
{{- end -}}
{{- if contains "@" $engine.url -}}
{{- fail (printf "engines.%s.url holds a user or a password: name a secret in engines.%s.existingSecret" $name $name) -}}
{{- end -}}
{{- if and (eq $engine.mode "embedded") $engine.existingSecret -}}
{{- fail (printf "engines.%s.existingSecret is set, but an embedded engine asks for nothing: remove it, or set the mode to bundled or external" $name) -}}
{{- end -}}
{{- end -}}
{{- $engines := .Values.engines -}}
{{- if and (eq $engines.opensearch.mode "bundled") $engines.opensearch.existingSecret -}}
{{- fail "engines.opensearch.existingSecret is set, but the bundled node asks for no password: remove it, or set engines.opensearch.mode to external" -}}
{{- end -}}
{{- if eq $engines.nats.mode "bundled" -}}
{{- if ne (int $engines.nats.replicas) 1 -}}
{{- fail "engines.nats.replicas is over 1, but the bundled NATS is one server: set it to 1, or engines.nats.mode to external" -}}
{{- end -}}
{{- range $key := list "password" "credentials" "nkey" "ca" "certificate" "key" -}}
{{- if and $engines.nats.existingSecret (get $engines.nats.existingSecretKeys $key) -}}
{{- fail (printf "engines.nats.existingSecretKeys.%s is set, but the bundled NATS takes a token alone: name it in engines.nats.existingSecretKeys.token, or set the mode to external" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $ways := 0 -}}
{{- range $key := list "password" "token" "credentials" "nkey" -}}
{{- if get $engines.nats.existingSecretKeys $key }}{{ $ways = add1 $ways }}{{ end -}}
{{- end -}}
{{- if gt (int $ways) 1 -}}
{{- fail "engines.nats.existingSecretKeys: NATS lets in by one of password, token, credentials and nkey: name one of them" -}}
{{- end -}}
{{- end -}}

{{- define "refdesk.validateComponents" -}}
{{- range $name, $component := .Values.components -}}
{{- $scaled := $component.autoscaling.enabled -}}
{{- if include "refdesk.keepsData" (list $ $name) -}}
{{- if or (gt (int $component.replicas) 1) $scaled -}}
{{- fail (printf "components.%s keeps the data of an embedded engine and can have one replica: set components.%s.replicas to 1 without autoscaling, or the engine's mode to bundled or external" $name $name) -}}
{{- end -}}
{{- end -}}
{{- if $scaled -}}
{{- if gt (int $component.autoscaling.minReplicas) (int $component.autoscaling.maxReplicas) -}}
{{- fail (printf "components.%s.autoscaling.minReplicas is over maxReplicas: raise maxReplicas" $name) -}}
{{- end -}}
{{- if and (not $component.autoscaling.cpuUtilization) (not $component.autoscaling.metrics) (ne $name "embedder") -}}
{{- fail (printf "components.%s.autoscaling has nothing to go by: set cpuUtilization or metrics" $name) -}}
{{- end -}}
{{- if and $component.autoscaling.cpuUtilization (not (dig "requests" "cpu" "" $component.resources)) -}}
{{- fail (printf "components.%s.autoscaling.cpuUtilization is a share of what is requested: set components.%s.resources.requests.cpu" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $gateway := .Values.components.gateway -}}
{{- if and (or (gt (int $gateway.replicas) 1) $gateway.autoscaling.enabled) (not .Values.sessions.existingSecret) -}}
{{- fail "components.gateway has more than one replica: set sessions.existingSecret, or a session would be known to one of them alone" -}}
{{- end -}}
{{- if .Values.mtls.enabled -}}
{{- if and .Values.mtls.secretName (not (contains "{component}" .Values.mtls.secretName)) -}}
{{- fail "mtls.secretName must hold {component}: each component has a secret of its own" -}}
{{- end -}}
{{- if and .Values.mtls.identity (not (contains "{component}" .Values.mtls.identity)) -}}
{{- fail "mtls.identity must hold {component}: components are told apart by their names" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "refdesk.validateEntry" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts is empty: name the hosts that the desk answers to" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs is empty: name the Gateway that the route hangs on" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.hostnames) -}}
{{- fail "httpRoute.hostnames is empty: name the hosts that the desk answers to" -}}
{{- end -}}
{{- if and (dig "telemetry" "otlp_endpoint" "" .Values.config) .Values.networkPolicy.enabled (not .Values.networkPolicy.otlp.to) -}}
{{- fail "config.telemetry.otlp_endpoint is set: name the collector in networkPolicy.otlp.to, or the network policy keeps it out of reach" -}}
{{- end -}}
{{- if and (or .Values.proxy.http .Values.proxy.https) .Values.networkPolicy.enabled (not .Values.proxy.allowCIDRs) -}}
{{- fail "proxy.allowCIDRs is empty: name the proxy's addresses, or the network policy keeps it out of reach" -}}
{{- end -}}
{{- end -}}
