{{/* The settings file: what the chart knows, over what `config` says. */}}

{{- define "refdesk.rpcTarget" -}}
{{- $root := index . 0 -}}{{- $name := include "refdesk.partName" . -}}
{{- if $root.Values.mtls.enabled -}}
dns:///{{ $name }}.{{ $root.Release.Namespace }}.svc:9090
{{- else -}}
dns:///{{ $name }}:9090
{{- end -}}
{{- end -}}

{{/* Names that the gateway answers to: those of the chart's own entries. */}}
{{- define "refdesk.allowedHosts" -}}
{{- $name := include "refdesk.partName" (list . "gateway") -}}
{{- $hosts := list -}}
{{- if .Values.ingress.enabled }}{{ $hosts = concat $hosts .Values.ingress.hosts }}{{ end -}}
{{- if .Values.httpRoute.enabled }}{{ $hosts = concat $hosts .Values.httpRoute.hostnames }}{{ end -}}
{{- if $hosts -}}
{{- $hosts = concat $hosts (list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.%s" $name .Release.Namespace .Values.clusterDomain)) -}}
{{- end -}}
{{- toYaml (dict "hosts" ($hosts | uniq)) -}}
{{- end -}}

{{- define "refdesk.gatewaySettings" -}}
{{- $settings := dict "host" "0.0.0.0" "port" 8080 "operator_listen" "0.0.0.0:8081" "serve_metrics" false -}}
{{- $files := list -}}
{{- range .Values.adminKey.keys }}{{ $files = append $files (printf "/etc/refdesk/secrets/admin/%s" .) }}{{ end -}}
{{- $_ := set $settings "admin_key_files" $files -}}
{{- if .Values.sessions.existingSecret -}}
{{- $_ := set $settings "session_key_file" (printf "/etc/refdesk/secrets/sessions/%s" .Values.sessions.key) -}}
{{- $_ := set $settings "sessions_url" (include "refdesk.natsUrl" .) -}}
{{- $_ := set $settings "nats" (include "refdesk.natsSettings" . | fromYaml) -}}
{{- end -}}
{{- $hosts := (include "refdesk.allowedHosts" . | fromYaml).hosts -}}
{{- with $hosts }}{{ $_ := set $settings "allowed_hosts" . }}{{ end -}}
{{- toYaml $settings -}}
{{- end -}}

{{- define "refdesk.searchSettings" -}}
{{- $settings := dict "keyword_url" (include "refdesk.opensearchUrl" .) "vector_url" (include "refdesk.qdrantUrl" .) -}}
{{- with include "refdesk.opensearchSettings" . | fromYaml }}{{ $_ := set $settings "opensearch" . }}{{ end -}}
{{- with include "refdesk.engineFile" (list . "qdrant" "apiKey") }}{{ $_ := set $settings "vector_api_key_file" . }}{{ end -}}
{{- with include "refdesk.engineFile" (list . "qdrant" "ca") }}{{ $_ := set $settings "vector_ca_file" . }}{{ end -}}
{{- toYaml $settings -}}
{{- end -}}

{{- define "refdesk.docstoreSettings" -}}
{{- $settings := dict "url" (include "refdesk.opensearchUrl" .) -}}
{{- with include "refdesk.opensearchSettings" . | fromYaml }}{{ $_ := set $settings "opensearch" . }}{{ end -}}
{{- toYaml $settings -}}
{{- end -}}

{{/* A component's certificate, and whose certificates may call it. */}}
{{- define "refdesk.tlsSettings" -}}
{{- $root := . -}}{{- $callers := dict -}}
{{- range $name := list "embedder" "search" "docstore" "ingest" -}}
{{- $names := list -}}
{{- range splitList " " (include "refdesk.callersOf" (list $root $name)) }}{{ $names = append $names (include "refdesk.identity" (list $root .)) }}{{ end -}}
{{- $_ := set $callers $name $names -}}
{{- end -}}
{{- $folder := "/etc/refdesk/secrets/mtls" -}}
{{- toYaml (dict "certificate_file" (printf "%s/tls.crt" $folder) "key_file" (printf "%s/tls.key" $folder) "ca_file" (printf "%s/ca.crt" $folder) "callers" $callers) -}}
{{- end -}}

{{/* The name in a component's certificate: list . "search" */}}
{{- define "refdesk.identity" -}}
{{- $root := index . 0 -}}
{{- default (printf "%s.%s.svc" (include "refdesk.partName" .) $root.Release.Namespace) ($root.Values.mtls.identity | replace "{component}" (index . 1)) -}}
{{- end -}}

{{/* What the chart decides; `config` must not name any of it. */}}
{{- define "refdesk.ownSettings" -}}
{{- $root := . -}}
{{- $rpc := dict "listen" "0.0.0.0:9090" "health_listen" "0.0.0.0:9091" -}}
{{- range $name := list "embedder" "search" "docstore" "ingest" }}{{ $_ := set $rpc $name (include "refdesk.rpcTarget" (list $root $name)) }}{{ end -}}
{{- if .Values.mtls.enabled }}{{ $_ := set $rpc "tls" (include "refdesk.tlsSettings" . | fromYaml) }}{{ end -}}
{{- $ingest := dict "events" (include "refdesk.natsUrl" .) "nats" (include "refdesk.natsSettings" . | fromYaml) -}}
{{- toYaml (dict
  "data" "/data"
  "rpc" $rpc
  "telemetry" (dict "listen" "0.0.0.0:9102")
  "gateway" (include "refdesk.gatewaySettings" . | fromYaml)
  "ingest" $ingest
  "search" (include "refdesk.searchSettings" . | fromYaml)
  "docstore" (include "refdesk.docstoreSettings" . | fromYaml)
) -}}
{{- end -}}

{{- define "refdesk.projects" -}}
{{- $push := dict "name" "documents" "kind" "push" -}}
{{- toYaml (.Values.projects | default (dict "default" (dict "sources" (list $push)))) -}}
{{- end -}}

{{- define "refdesk.config" -}}
{{- $own := include "refdesk.ownSettings" . | fromYaml -}}
{{- $config := mergeOverwrite $own (deepCopy .Values.config) (dict "projects" (include "refdesk.projects" . | fromYaml)) -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Changes when something that this component reads has changed, so that it alone is rolled: list . "gateway" */}}
{{- define "refdesk.configChecksum" -}}
{{- $config := include "refdesk.config" (index . 0) | fromYaml -}}
{{- $read := dict "data" $config.data "rpc" $config.rpc "telemetry" $config.telemetry "own" (get $config (index . 1)) -}}
{{- if eq (index . 1) "ingest" }}{{ $_ := set $read "projects" $config.projects }}{{ end -}}
{{- toYaml $read | sha256sum -}}
{{- end -}}
