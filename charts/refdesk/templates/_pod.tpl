{{/* The pod of a component: list . "gateway" */}}
{{- define "refdesk.pod" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $component := get $root.Values.components $name -}}
{{- $keepsData := include "refdesk.keepsData" . -}}
metadata:
  labels:
    {{- include "refdesk.labels" . | nindent 4 }}
    {{- with $component.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ include "refdesk.configChecksum" . }}
    {{- with $component.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "refdesk.serviceAccountName" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $component.terminationGracePeriodSeconds }}
  securityContext:
    {{- include "refdesk.podSecurityContext" $root.Values.securityContext | trim | nindent 4 }}
  {{- include "refdesk.pullSecrets" $root | nindent 2 }}
  {{- include "refdesk.placement" . | nindent 2 }}
  containers:
    - name: {{ $name }}
      image: {{ include "refdesk.image" (list $root $root.Values.image $root.Chart.AppVersion) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- if $root.Values.development.reload }}
      command: [/bin/sh, -euc]
      args:
        - |
          mkdir -p /tmp/services
          cp -R "$(python -c 'import pathlib, refdesk; print(pathlib.Path(refdesk.__file__).parent)')" /tmp/services/
          export PYTHONPATH=/tmp/services
          exec watchfiles --filter python 'python -m refdesk run --target {{ $name }} --config /etc/refdesk/config/config.yaml' /tmp/services
      {{- else }}
      args: [run, --target, {{ $name }}, --config, /etc/refdesk/config/config.yaml]
      {{- end }}
      ports:
        {{- if eq $name "gateway" }}
        - {name: http, containerPort: 8080}
        - {name: operator, containerPort: 8081}
        {{- else }}
        - {name: grpc, containerPort: 9090}
        {{- end }}
        - {name: health, containerPort: 9091}
        - {name: metrics, containerPort: 9102}
      {{- with include "refdesk.environment" . | trim }}
      env:
        {{- . | nindent 8 }}
      {{- end }}
      startupProbe: # until everything has started, the model with it; engines that are not there yet hold up readiness alone
        grpc: {port: 9091, service: started}
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      livenessProbe: # asks nobody else
        grpc: {port: 9091, service: live}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        grpc: {port: 9091}
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      lifecycle:
        preStop: {sleep: {seconds: 5}}
      resources:
        {{- toYaml $component.resources | nindent 8 }}
      securityContext:
        {{- include "refdesk.containerSecurityContext" true | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/refdesk/config, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        - {name: data, mountPath: /data}
        {{- include "refdesk.secretMounts" . | nindent 8 }}
        {{- with $component.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: config
      configMap: {name: {{ include "refdesk.fullname" $root }}-config}
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
    {{- if not $keepsData }}
    - name: data
      emptyDir: {sizeLimit: 1Gi}
    {{- end }}
    {{- include "refdesk.secretVolumes" . | nindent 4 }}
    {{- with $component.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}

{{- define "refdesk.placement" -}}
{{- $root := index . 0 -}}{{- $component := get $root.Values.components (index . 1) -}}
{{- with $component.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
{{- if $component.affinity }}
{{- toYaml $component.affinity | nindent 2 }}
{{- else }}
  podAntiAffinity: # not a spread constraint: those count nothing on nodes that lack the label of one of them, and many have no zone
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "refdesk.selector" . | nindent 14 }}
          {{- if not (include "refdesk.keepsData" .) }}
          matchLabelKeys: [pod-template-hash]
          {{- end }}
{{- end }}
{{- with $component.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
topologySpreadConstraints:
{{- if $component.topologySpreadConstraints }}
{{- toYaml $component.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "refdesk.selector" . | nindent 8 }}
    {{- if not (include "refdesk.keepsData" .) }}
    matchLabelKeys: [pod-template-hash]
    {{- end }}
{{- end }}
{{- end -}}

{{- define "refdesk.environment" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}{{- $component := get $root.Values.components $name -}}
{{- if and (eq $name "embedder") (not (dig "limits" "cpu" "" $component.resources)) (dig "requests" "cpu" "" $component.resources) (not (dig "embedder" "workers" 0 $root.Values.config)) }}
- name: REFDESK_EMBEDDER__WORKERS # there is no limit to go by, and the node's cores are not ours
  valueFrom: {resourceFieldRef: {containerName: embedder, resource: requests.cpu, divisor: "1"}}
{{- end }}
{{- if has $name (list "ingest" "embedder" "gateway") }}
{{- if $root.Values.caBundle.configMap }}
- {name: SSL_CERT_FILE, value: /etc/refdesk/ca/{{ $root.Values.caBundle.key }}}
{{- end }}
{{- if has $name (list "ingest" "embedder") }}
{{- with $root.Values.proxy.http }}
- {name: HTTP_PROXY, value: {{ . | quote }}}
{{- end }}
{{- with $root.Values.proxy.https }}
- {name: HTTPS_PROXY, value: {{ . | quote }}}
{{- end }}
{{- if or $root.Values.proxy.http $root.Values.proxy.https }}
- {name: NO_PROXY, value: {{ printf "localhost,127.0.0.1,.svc,.%s%s" $root.Values.clusterDomain (ternary (printf ",%s" $root.Values.proxy.noProxy) "" (ne $root.Values.proxy.noProxy "")) | quote }}}
{{- end }}
{{- end }}
{{- end }}
{{- with $component.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "refdesk.adminSecret" -}}
{{- default (printf "%s-admin" (include "refdesk.fullname" .)) .Values.adminKey.existingSecret -}}
{{- end -}}

{{- define "refdesk.mtlsSecret" -}}
{{- $root := index . 0 -}}
{{- default (printf "%s-{component}-tls" (include "refdesk.fullname" $root)) $root.Values.mtls.secretName | replace "{component}" (index . 1) -}}
{{- end -}}

{{/* Secrets are mounted as folders, for a file that is mounted by itself never changes. */}}
{{- define "refdesk.secretMounts" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}
{{- range splitList " " (include "refdesk.enginesOf" .) }}
{{- if . }}
{{- $engine := get $root.Values.engines . }}
{{- if and $engine.existingSecret (ne $engine.mode "embedded") }}
- {name: {{ . }}-secret, mountPath: /etc/refdesk/secrets/{{ . }}, readOnly: true}
{{- end }}
{{- end }}
{{- end }}
{{- if eq $name "gateway" }}
- {name: admin-key, mountPath: /etc/refdesk/secrets/admin, readOnly: true}
{{- if $root.Values.sessions.existingSecret }}
- {name: sessions-key, mountPath: /etc/refdesk/secrets/sessions, readOnly: true}
{{- end }}
{{- end }}
{{- if $root.Values.mtls.enabled }}
- {name: mtls, mountPath: /etc/refdesk/secrets/mtls, readOnly: true}
{{- end }}
{{- if and $root.Values.caBundle.configMap (has $name (list "ingest" "embedder" "gateway")) }}
- {name: ca-bundle, mountPath: /etc/refdesk/ca, readOnly: true}
{{- end }}
{{- end -}}

{{- define "refdesk.secretVolumes" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}
{{- range splitList " " (include "refdesk.enginesOf" .) }}
{{- if . }}
{{- $engine := get $root.Values.engines . }}
{{- if and $engine.existingSecret (ne $engine.mode "embedded") }}
- name: {{ . }}-secret
  secret: {secretName: {{ $engine.existingSecret }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- end }}
{{- if eq $name "gateway" }}
- name: admin-key
  secret: {secretName: {{ include "refdesk.adminSecret" $root }}, defaultMode: 0440, optional: true}
{{- if $root.Values.sessions.existingSecret }}
- name: sessions-key
  secret: {secretName: {{ $root.Values.sessions.existingSecret }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- if $root.Values.mtls.enabled }}
- name: mtls
  secret: {secretName: {{ include "refdesk.mtlsSecret" . }}, defaultMode: 0440}
{{- end }}
{{- if and $root.Values.caBundle.configMap (has $name (list "ingest" "embedder" "gateway")) }}
- name: ca-bundle
  configMap: {name: {{ $root.Values.caBundle.configMap }}}
{{- end }}
{{- end -}}
