{{/* Short enough for a Service of every role. */}}
{{- define "berth.name" -}}
{{- contains "berth" .Release.Name | ternary .Release.Name (printf "%s-berth" .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* The namespace of environments: one without the Secrets of the server, unless the operator says otherwise. */}}
{{- define "berth.environments" -}}
{{ .Values.environments.namespace | default (printf "%s-environments" .Release.Namespace) }}
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

{{/* All variables of a process: a list of the root and its roles. */}}
{{- define "berth.environment" -}}
{{- $root := index . 0 }}
{{- include "berth.folders" $root }}
{{- range $name, $text := dict "ROLES" (index . 1) "HOST" "0.0.0.0" "PORT" "3000" "SSH_PORT" "off" "METRICS_HOST" "0.0.0.0" "METRICS_PORT" "9464" "DRAIN_SECONDS" $root.Values.drainSeconds "RUNTIME" "kubernetes" "KUBERNETES_NAMESPACE" (include "berth.environments" $root) }}
- name: {{ $name }}
  value: {{ include "berth.text" $text }}
{{- end }}
{{- if $root.Values.catalogue }}
- name: CATALOGUE
  value: /etc/berth/catalogue.json
{{- end }}
{{- range $name, $text := $root.Values.settings }}
- name: {{ $name }}
  value: {{ include "berth.text" $text }}
{{- end }}
{{- range $name, $from := $root.Values.secrets }}
{{ include "berth.secret" (list $name $from) }}
{{- end }}
{{- end }}

{{/* Keys and certificates of Docker hosts. */}}
{{- define "berth.hosts" -}}
- name: hosts
  projected:
    sources:
      {{- with .Values.hosts.knownHosts }}
      - secret: { name: {{ .name }}, items: [{ key: {{ .key }}, path: known_hosts }] }
      {{- end }}
      {{- range $host, $secret := .Values.hosts.secrets }}
      - secret:
          name: {{ $secret.name }}
          items:
            {{- range $file := $secret.keys }}
            - { key: {{ $file }}, path: {{ $host }}/{{ $file }} }
            {{- end }}
      {{- end }}
{{- end }}

{{/* The volume of backups, which belongs to our user as far as its kind of storage allows. */}}
{{- define "berth.backupMount" -}}
{{- if .Values.backup.volumeClaim }}
- { name: backups, mountPath: /backups }
{{- end }}
{{- end }}

{{- define "berth.backupVolume" -}}
{{- with .Values.backup.volumeClaim }}
- { name: backups, persistentVolumeClaim: { claimName: {{ . }} } }
{{- end }}
{{- end }}

{{/*
A job of a hook has what the processes will have: what they would fail for, it fails for before any of them is changed.
Its catalogue is a copy, because the chart's own objects come later.
*/}}
{{- define "berth.jobMounts" -}}
{{- include "berth.mounts" . }}
{{- if .Values.catalogue }}
- { name: catalogue, mountPath: /etc/berth }
{{- end }}
{{- if .Values.hosts.secrets }}
- { name: hosts, mountPath: /etc/berth-hosts, readOnly: true }
{{- end }}
{{- end }}

{{- define "berth.jobVolumes" -}}
{{- include "berth.volumes" . }}
{{- if .Values.catalogue }}
- { name: catalogue, configMap: { name: {{ include "berth.name" . }}-migrate } }
{{- end }}
{{- if .Values.hosts.secrets }}
{{ include "berth.hosts" . }}
{{- end }}
{{- end }}
