{{/* Peers and blocks of the network policies. No block ever holds the address at which clouds hand out credentials. */}}

{{- define "refdesk.metadataRange" -}}169.254.0.0/16{{- end -}}

{{/* One peer: an address range, without the link-local one. */}}
{{- define "refdesk.block" -}}
{{- $parts := splitList "/" . -}}{{- $address := first $parts -}}
{{- if contains ":" $address -}}
{{- if or (hasPrefix "fe80:" $address) (hasPrefix "fd00:ec2:" $address) -}}
{{- fail (printf "%s holds the metadata address of a cloud: no network policy of this chart allows it" .) -}}
{{- end -}}
- ipBlock:
    cidr: {{ . }}
    {{- if eq . "::/0" }}
    except: ["fe80::/10", "fd00:ec2::254/128"]
    {{- end }}
{{- else -}}
{{- $length := int (last $parts) -}}
{{- $number := 0 -}}
{{- range splitList "." $address }}{{ $number = add (mul $number 256) (int .) }}{{ end -}}
{{- $size := 1 -}}
{{- range until (int (sub 32 $length)) }}{{ $size = mul $size 2 }}{{ end -}}
{{- $metadata := add (mul 169 16777216) (mul 254 65536) (mul 169 256) 254 -}}
{{- if and (ge $length 16) (eq (div $number 65536) (div $metadata 65536)) -}}
{{- fail (printf "%s holds the metadata address of a cloud: no network policy of this chart allows it" .) -}}
{{- end -}}
- ipBlock:
    cidr: {{ . }}
    {{- if and (lt $length 16) (eq (div $number $size) (div $metadata $size)) }}
    except: [{{ include "refdesk.metadataRange" . }}]
    {{- end }}
{{- end -}}
{{- end -}}

{{- define "refdesk.blocks" -}}
{{- range . }}
{{ include "refdesk.block" . }}
{{- end }}
{{- end -}}

{{/* A peer: a part of this release. list . "gateway" */}}
{{- define "refdesk.peer" -}}
- podSelector:
    matchLabels:
      {{- include "refdesk.selector" . | nindent 6 }}
{{- end -}}

{{/* A rule for a way out to a part of this release: list . "docstore" 9090 */}}
{{- define "refdesk.wayOut" -}}
- to:
    {{- include "refdesk.peer" . | nindent 4 }}
  ports: [{port: {{ index . 2 }}, protocol: TCP}]
{{- end -}}

{{/* Which components call a component, and at an engine's node who may: list . "docstore" */}}
{{- define "refdesk.callersOf" -}}
{{- get (dict
  "docstore" "gateway ingest" "search" "gateway ingest" "embedder" "gateway ingest search" "ingest" "gateway" "gateway" ""
  "qdrant" "search" "opensearch" "docstore search" "nats" "ingest gateway") (index . 1) -}}
{{- end -}}

{{/* A way out to an engine, wherever it is: list . "nats" */}}
{{- define "refdesk.wayToEngine" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $engine := get $root.Values.engines $name -}}
{{- $port := get (dict "qdrant" 6334 "opensearch" 9200 "nats" 4222) $name -}}
{{- if eq $engine.mode "bundled" -}}
{{ include "refdesk.wayOut" (list $root $name $port) }}
{{- else if eq $engine.mode "external" -}}
{{- $ports := list -}}
{{- range splitList "," (regexReplaceAll "^[a-z+]+://" $engine.url "") -}}
{{- $found := regexFind ":[0-9]+" . -}}
{{- $ports = append $ports (default (toString $port) (trimPrefix ":" $found)) -}}
{{- end -}}
- to:
    {{- if $engine.allowCIDRs }}
    {{- include "refdesk.blocks" $engine.allowCIDRs | nindent 4 }}
    {{- else }}
    - namespaceSelector: {}
    {{- include "refdesk.blocks" (list "0.0.0.0/0" "::/0") | nindent 4 }}
    {{- end }}
  ports:
    {{- range $ports | uniq }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end -}}
{{- end -}}
