{{/* Names, labels and images; everything else builds on these. */}}

{{- define "refdesk.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "refdesk.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "refdesk.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "refdesk.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Of one part of the release: list . "gateway" */}}
{{- define "refdesk.partName" -}}
{{- printf "%s-%s" (include "refdesk.fullname" (index . 0)) (index . 1) -}}
{{- end -}}

{{- define "refdesk.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "refdesk.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "refdesk.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "refdesk.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: refdesk
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* list . image defaultTag */}}
{{- define "refdesk.image" -}}
{{- $root := index . 0 -}}{{- $image := index . 1 -}}
{{- $registry := dig "imageRegistry" "" ($root.Values.global | default dict) | default $image.registry -}}
{{- $name := $image.repository -}}
{{- if $registry }}{{ $name = printf "%s/%s" $registry $name }}{{ end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default (index . 2) $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "refdesk.pullSecrets" -}}
{{- $names := list -}}
{{- range concat (dig "imagePullSecrets" list (.Values.global | default dict)) .Values.image.pullSecrets -}}
{{- if kindIs "map" . }}{{ $names = append $names .name }}{{ else }}{{ $names = append $names . }}{{ end -}}
{{- end -}}
{{- with $names | uniq }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "refdesk.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "refdesk.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The components, in the order in which they start. */}}
{{- define "refdesk.components" -}}
docstore embedder search ingest gateway
{{- end -}}

{{/* "true" where a component keeps an engine's data itself: list . "search" */}}
{{- define "refdesk.keepsData" -}}
{{- $root := index . 0 -}}{{- $engines := $root.Values.engines -}}
{{- if and (eq (index . 1) "search") (or (eq $engines.qdrant.mode "embedded") (eq $engines.opensearch.mode "embedded")) -}}true
{{- else if and (eq (index . 1) "docstore") (eq $engines.opensearch.mode "embedded") -}}true
{{- end -}}
{{- end -}}

{{/* What every pod's and every container's security context has; nothing of it can be weakened by values. list . securityContext */}}
{{- define "refdesk.podSecurityContext" -}}
{{- $given := . -}}
runAsNonRoot: true
{{- range $key := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- $value := get ($given | default dict) $key }}
{{- if kindIs "float64" $value }}
{{ $key }}: {{ int64 $value }}
{{- else if or (kindIs "int" $value) (kindIs "int64" $value) }}
{{ $key }}: {{ $value }}
{{- end }}
{{- end }}
{{- if get ($given | default dict) "fsGroup" }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "refdesk.containerSecurityContext" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: {{ . }}
capabilities: {drop: [ALL]}
{{- end -}}
