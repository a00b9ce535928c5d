{{/* Short enough for a Service of every role. */}}
{{- define "berth.name" -}}
{{- contains "berth" .Release.Name | ternary .Release.Name (printf "%s-berth" .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* Pods of this release. */}}
{{- define "berth.selector" -}}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "berth.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* A setting as the environment has it: toString would write a million as 1e+06. */}}
{{- define "berth.text" -}}
{{- if kindIs "string" . }}{{ . | quote }}{{ else }}{{ toJson . | quote }}{{ end }}
{{- end }}

{{/* A variable from a Secret: a list of its name and the reference. */}}
{{- define "berth.secret" -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef: {{ toJson (index . 1) }}
{{- end }}

{{/* What every pod of ours has, as Pod Security `restricted` wants it. */}}
{{- define "berth.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "berth.container" -}}
image: {{ include "berth.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The folder of the data is below the mount, so that it belongs to our user. */}}
{{- define "berth.folders" -}}
- name: ENV_FILE
  value: ""
- name: DATA_DIR
  value: /var/lib/berth/data
{{- end }}

{{- define "berth.mounts" -}}
- { name: data, mountPath: /var/lib/berth }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "berth.volumes" -}}
- { name: data, emptyDir: {} }
- { name: tmp, emptyDir: {} }
{{- end }}
