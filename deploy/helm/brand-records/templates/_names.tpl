{{- define "brand-records.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 30 | trimSuffix "-" -}}
{{- end -}}

{{/* Room for the longest suffix, of a Secret's name that is also a label's value. */}}
{{- define "brand-records.fullname" -}}
{{- $name := include "brand-records.name" . -}}
{{- if .Values.fullnameOverride -}}{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}{{- end -}}
{{- end -}}

{{/* Name of a process' admin ports. Takes dict root, component. */}}
{{- define "brand-records.adminService" -}}
{{- include "brand-records.fullname" .root }}-{{ .component }}-admin
{{- end -}}

{{/* Of all pods of the release. Takes dict root, component (optional). */}}
{{- define "brand-records.selector" -}}
app.kubernetes.io/name: {{ include "brand-records.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* Of every object. Takes dict root, component (optional). */}}
{{- define "brand-records.labels" -}}
{{- $own := include "brand-records.ownLabels" . | fromYaml -}}
{{- toYaml (merge (dict) $own .root.Values.commonLabels) -}}
{{- end -}}

{{- define "brand-records.ownLabels" -}}
{{ include "brand-records.selector" . }}
app.kubernetes.io/part-of: brand-records
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Of a process' pods: podLabels come on top. */}}
{{- define "brand-records.podLabels" -}}
{{- $own := include "brand-records.labels" . | fromYaml -}}
{{- toYaml (merge (dict) $own (include "brand-records.mergedMap" (dict "root" .root "component" .component "key" "podLabels") | fromYaml)) -}}
{{- end -}}

{{/* A map of a process over the one of all, as YAML. Takes dict root, component, key. */}}
{{- define "brand-records.mergedMap" -}}
{{- $own := index .root.Values .component | default dict -}}
{{- toYaml (merge (dict) (get $own .key | default dict) (index .root.Values .key | default dict)) -}}
{{- end -}}

{{/* A list of all and that of a process, as a YAML object {list: …}. Takes dict root, component, key. */}}
{{- define "brand-records.joinedList" -}}
{{- $own := index .root.Values .component | default dict -}}
{{- dict "list" (concat (index .root.Values .key | default list) (get $own .key | default list)) | toYaml -}}
{{- end -}}

{{/* `annotations:` of an object of a process, if there are any. Takes dict root, component, key. */}}
{{- define "brand-records.annotations" -}}
{{- with include "brand-records.mergedMap" . | fromYaml -}}
annotations: {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/*
`metadata` of an object. Takes dict root, component (optional), name; labels and annotations that come on top; key of those annotations that
values have for a process.
*/}}
{{- define "brand-records.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "brand-records.labels" . | nindent 2 }}
  {{- with .labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with .annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .key }}
{{ include "brand-records.annotations" . }}
{{- end }}
{{- end -}}

{{- define "brand-records.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "brand-records.serviceSecret" -}}
{{- (index .root.Values .component).existingSecret | default (printf "%s-%s" (include "brand-records.fullname" .root) .component) -}}
{{- end -}}

{{- define "brand-records.certificateSecret" -}}
{{- (index .root.Values .component).certificateSecret | default (printf "%s-%s-tls" (include "brand-records.fullname" .root) .component) -}}
{{- end -}}

{{- define "brand-records.migrationSecret" -}}
{{- printf "%s-%s-migration" (include "brand-records.fullname" .root) .component -}}
{{- end -}}

{{/* host:port of a service's gRPC; every address of the headless Service, so that calls are balanced. */}}
{{- define "brand-records.target" -}}
dns:///{{ include "brand-records.fullname" .root }}-{{ .component }}:7000
{{- end -}}

{{/* RECORDS_CELLS of the gateway and of brandctl. */}}
{{- define "brand-records.cellTargets" -}}
{{- $targets := list -}}
{{- range $cell := keys .Values.records.cells | sortAlpha -}}
{{- $targets = append $targets (printf "%s=%s" $cell (include "brand-records.target" (dict "root" $ "component" (printf "records-%s" $cell)))) -}}
{{- end -}}
{{- join "," $targets -}}
{{- end -}}
