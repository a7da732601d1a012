{{/* What the schema cannot say: each fails the render and names what to change. */}}

{{- define "refdesk.validate" -}}
{{- include "refdesk.validateEngines" . -}}
{{- end -}}

{{- define "refdesk.validateEngines" -}}
{{- range $name, $engine := .Values.engines -}}
{{- if and (eq $engine.mode "external") (not $engine.url) -}}
{{- fail (printf "engines.%s.mode is external: set engines.%s.url to its address" $name $name) -}}
{{- end -}}
{{- if and (ne $engine.mode "external") $engine.url -}}
{{- fail (printf "engines.%s.url is set, but engines.%s.mode is %s: set the mode to external, or remove the url" $name $name $engine.mode) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "search" "docstore" -}}
{{- $component := get $.Values.components $name -}}
{{- if include "refdesk.keepsData" (list $ $name) -}}
{{- if or (gt (int $component.replicas) 1) $component.autoscaling.enabled -}}
{{- fail (printf "components.%s keeps the data of an embedded engine and can have one replica: set components.%s.replicas to 1 without autoscaling, or the engine's mode to bundled or external" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
