{{/* A node of an engine of the chart's own: dict "root" . "name" "nats" "ports" "env" "args" "mounts" "volumes" "probes" "writes" */}}
{{- define "refdesk.engine" -}}
{{- $root := .root -}}{{- $engine := get $root.Values.engines .name -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ include "refdesk.partName" (list $root .name) }}
  labels:
    {{- include "refdesk.labels" (list $root .name) | nindent 4 }}
spec:
  replicas: 1
  serviceName: {{ include "refdesk.partName" (list $root .name) }}
  podManagementPolicy: Parallel # or a pod whose image never starts would stay, also after a rollback
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      {{- include "refdesk.selector" (list $root .name) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "refdesk.labels" (list $root .name) | nindent 8 }}
        {{- with $engine.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- $annotations := merge (dict) $engine.podAnnotations (.annotations | default dict) }}
      {{- with $annotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "refdesk.serviceAccountName" $root }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: 120
      securityContext:
        {{- include "refdesk.podSecurityContext" $engine.securityContext | trim | nindent 8 }}
      {{- include "refdesk.pullSecrets" $root | nindent 6 }}
      {{- with $engine.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $engine.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $engine.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $engine.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ include "refdesk.image" (list $root $engine.image "") }}
          imagePullPolicy: {{ $engine.image.pullPolicy }}
          {{- with $engine.command }}
          command: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with ($engine.args | default .args) }}
          args: {{- toYaml . | nindent 12 }}
          {{- end }}
          {{- with concat (.env | default list) $engine.extraEnv }}
          env: {{- toYaml . | nindent 12 }}
          {{- end }}
          ports: {{- toYaml .ports | nindent 12 }}
          {{- toYaml .probes | nindent 10 }}
          resources: {{- toYaml $engine.resources | nindent 12 }}
          securityContext:
            {{- include "refdesk.containerSecurityContext" .readOnly | nindent 12 }}
          volumeMounts: {{- toYaml .mounts | nindent 12 }}
      {{- with .volumes }}
      volumes: {{- toYaml . | nindent 8 }}
      {{- end }}
  volumeClaimTemplates:
    {{- include "refdesk.claim" $engine.persistence | nindent 4 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "refdesk.partName" (list $root .name) }}
  labels:
    {{- include "refdesk.labels" (list $root .name) | nindent 4 }}
spec:
  clusterIP: None
  selector:
    {{- include "refdesk.selector" (list $root .name) | nindent 4 }}
  ports:
    {{- range .ports }}
    - {name: {{ .name }}, port: {{ .containerPort }}, targetPort: {{ .name }}}
    {{- end }}
{{- end -}}
