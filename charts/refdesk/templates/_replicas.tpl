{{/*
How many pods. An autoscaler owns the number: a Deployment without one would start, and after an upgrade go on, with a single pod until
the autoscaler's first pass. So what the cluster has is said again, or at first the least; where the cluster cannot be seen (rendering
offline), nothing is said.
*/}}
{{- define "refdesk.replicas" -}}
{{- $root := index . 0 -}}{{- $component := get $root.Values.components (index . 1) -}}
{{- if include "refdesk.keepsData" . -}}
replicas: 1
{{- else if not $component.autoscaling.enabled -}}
replicas: {{ $component.replicas }}
{{- else -}}
{{- $name := include "refdesk.partName" . -}}
{{- $existing := lookup "apps/v1" "Deployment" $root.Release.Namespace $name -}}
{{- if $existing -}}
replicas: {{ max (int (dig "spec" "replicas" 1 $existing)) (int $component.autoscaling.minReplicas) }}
{{- else if lookup "apps/v1" "Deployment" $root.Release.Namespace "" -}}
replicas: {{ $component.autoscaling.minReplicas }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "refdesk.claim" -}}
- metadata:
    name: data
  spec:
    accessModes: {{ toYaml .accessModes | nindent 6 }}
    {{- with .storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests: {storage: {{ .size }}}
{{- end -}}
