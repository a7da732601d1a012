{{/* Where each engine is found, and by what it lets us in. */}}

{{- define "refdesk.qdrantUrl" -}}
{{- $engine := .Values.engines.qdrant -}}
{{- if eq $engine.mode "embedded" -}}file:
{{- else if eq $engine.mode "external" -}}{{ $engine.url }}
{{- else -}}qdrant://{{ include "refdesk.partName" (list . "qdrant") }}:6334
{{- end -}}
{{- end -}}

{{- define "refdesk.opensearchUrl" -}}
{{- $engine := .Values.engines.opensearch -}}
{{- if eq $engine.mode "embedded" -}}file:
{{- else if eq $engine.mode "external" -}}{{ $engine.url }}
{{- else -}}opensearch://{{ include "refdesk.partName" (list . "opensearch") }}:9200
{{- end -}}
{{- end -}}

{{- define "refdesk.natsUrl" -}}
{{- $engine := .Values.engines.nats -}}
{{- if eq $engine.mode "external" -}}{{ $engine.url }}
{{- else -}}nats://{{ include "refdesk.partName" (list . "nats") }}:4222
{{- end -}}
{{- end -}}

{{/* The path of a file of an engine's secret, empty where the engine has none: list . "nats" "password" */}}
{{- define "refdesk.engineFile" -}}
{{- $engine := index (index . 0).Values.engines (index . 1) -}}
{{- $key := get $engine.existingSecretKeys (index . 2) -}}
{{- if and $engine.existingSecret $key (ne $engine.mode "embedded") -}}
/etc/refdesk/secrets/{{ index . 1 }}/{{ $key }}
{{- end -}}
{{- end -}}

{{/* Which engines a component calls: list . "search" */}}
{{- define "refdesk.enginesOf" -}}
{{- get (dict "gateway" "nats" "ingest" "nats" "embedder" "" "search" "qdrant opensearch" "docstore" "opensearch") (index . 1) -}}
{{- end -}}

{{- define "refdesk.opensearchSettings" -}}
{{- $settings := dict -}}
{{- with include "refdesk.engineFile" (list . "opensearch" "password") }}{{ $_ := set $settings "password_file" . }}{{ end -}}
{{- if hasKey $settings "password_file" }}{{ $_ := set $settings "user" .Values.engines.opensearch.user }}{{ end -}}
{{- with include "refdesk.engineFile" (list . "opensearch" "ca") }}{{ $_ := set $settings "ca_file" . }}{{ end -}}
{{- toYaml $settings -}}
{{- end -}}

{{- define "refdesk.natsSettings" -}}
{{- $root := . -}}{{- $settings := dict -}}
{{- range $key, $setting := dict "password" "password_file" "token" "token_file" "credentials" "credentials_file" "nkey" "nkey_file" "ca" "ca_file" "certificate" "certificate_file" "key" "key_file" -}}
{{- with include "refdesk.engineFile" (list $root "nats" $key) }}{{ $_ := set $settings $setting . }}{{ end -}}
{{- end -}}
{{- if hasKey $settings "password_file" }}{{ $_ := set $settings "user" .Values.engines.nats.user }}{{ end -}}
{{- $_ := set $settings "replicas" (int .Values.engines.nats.replicas) -}}
{{- toYaml $settings -}}
{{- end -}}
