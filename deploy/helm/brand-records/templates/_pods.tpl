{{/* What all pods have in common. Takes dict root, component. */}}
{{- define "brand-records.podCommon" -}}
{{- $v := .root.Values -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $v.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- $own := index $v .component | default dict }}
{{- with get $own "priorityClassName" | default $v.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with include "brand-records.mergedMap" (dict "root" .root "component" .component "key" "nodeSelector") | fromYaml }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with (include "brand-records.joinedList" (dict "root" .root "component" .component "key" "tolerations") | fromYaml).list }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with get $own "affinity" | default $v.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $v.podSecurityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What every container has. Takes dict root, name. */}}
{{- define "brand-records.container" -}}
name: {{ .name }}
image: {{ include "brand-records.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext: {{- toYaml .root.Values.containerSecurityContext | nindent 2 }}
{{- end -}}

{{/* `topologySpreadConstraints` of values; without, over zones and hosts. Takes dict root, component. */}}
{{- define "brand-records.spread" -}}
{{- $own := index .root.Values .component | default dict -}}
{{- $given := get $own "topologySpreadConstraints" | default .root.Values.topologySpreadConstraints -}}
{{- $scope := . -}}
{{- $selected := dict "labelSelector" (dict "matchLabels" (include "brand-records.selector" . | fromYaml)) -}}
{{- /* Each revision for itself: old pods that are about to go do not count. */ -}}
{{- $default := dict "maxSkew" 1 "whenUnsatisfiable" "ScheduleAnyway" "matchLabelKeys" (list "pod-template-hash") -}}
{{- $zones := merge (dict "topologyKey" "topology.kubernetes.io/zone") $default -}}
{{- $hosts := merge (dict "topologyKey" "kubernetes.io/hostname") $default -}}
{{- $constraints := list -}}
{{- range $given | default (list $zones $hosts) -}}
{{- $constraints = append $constraints (merge (dict) . $selected) -}}
{{- end -}}
{{- toYaml $constraints -}}
{{- end -}}

{{/*
A Job's spec up to its container, of which the rest follows. With wrong settings, options or files another try would end in the same way.
Takes dict root, component, name: of the container, and of its pods' component unless `label` names another.
*/}}
{{- define "brand-records.job" -}}
backoffLimit: 3
podFailurePolicy:
  rules: [{ action: FailJob, onExitCodes: { containerName: {{ .name }}, operator: In, values: [2, 78] } }]
template:
  metadata:
    labels: {{- include "brand-records.podLabels" (dict "root" .root "component" (.label | default .name)) | nindent 6 }}
  spec:
    restartPolicy: Never
    serviceAccountName: {{ include "brand-records.fullname" .root }}-{{ .component }}
    {{- include "brand-records.podCommon" . | nindent 4 }}
    containers:
      - {{- include "brand-records.container" . | nindent 8 }}
{{- end -}}

{{/* What a container reads: certificates, secret settings, the owner's login (`isOwner`), authorities. Takes dict root, component, facts. */}}
{{- define "brand-records.mounts" -}}
{{- if not .facts.isMigration }}
- { name: certificates, mountPath: /certificates, readOnly: true }
{{- end }}
{{- if .facts.secrets }}
- { name: secrets, mountPath: /secrets, readOnly: true }
{{- end }}
{{- if .isOwner }}
- { name: migration, mountPath: /migration, readOnly: true }
{{- end }}
{{- range $name, $map := include "brand-records.authorities" . | fromYaml }}
- { name: {{ $name }}-authority, mountPath: /authorities/{{ $name }}, readOnly: true }
{{- end }}
{{ include "brand-records.extraMounts" . }}
{{- end -}}

{{- define "brand-records.volumes" -}}
{{- if not .facts.isMigration }}
- name: certificates
  secret: { secretName: {{ include "brand-records.certificateSecret" . }}, defaultMode: 0440 }
{{- end }}
{{- if .facts.secrets }}
- name: secrets
  secret:
    secretName: {{ include "brand-records.serviceSecret" . }}
    defaultMode: 0440
    items:
    {{- range .facts.secrets }}
      - { key: {{ . }}, path: {{ . }} }
    {{- end }}
{{- end }}
{{- if .isOwner }}
- name: migration
  secret: { secretName: {{ include "brand-records.migrationSecret" . }}, defaultMode: 0440 }
{{- end }}
{{- range $name, $map := include "brand-records.authorities" . | fromYaml }}
- name: {{ $name }}-authority
  configMap: { name: {{ $map }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{ include "brand-records.extraVolumes" . }}
{{- end -}}

{{/* Of every container: the private authority, and what values add. Takes dict root, component. */}}
{{- define "brand-records.extraMounts" -}}
{{- if or .root.Values.extraCa.configMap .root.Values.extraCa.secret }}
- { name: extra-authority, mountPath: /authorities/extra, readOnly: true }
{{- end }}
{{- with (include "brand-records.joinedList" (dict "root" .root "component" .component "key" "extraVolumeMounts") | fromYaml).list }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "brand-records.extraVolumes" -}}
{{- $ca := .root.Values.extraCa -}}
{{- $items := list (dict "key" $ca.key "path" "ca.crt") -}}
{{- if $ca.configMap }}
- name: extra-authority
  configMap: { name: {{ $ca.configMap }}, items: {{ toJson $items }} }
{{- else if $ca.secret }}
- name: extra-authority
  secret: { secretName: {{ $ca.secret }}, defaultMode: 0440, items: {{ toJson $items }} }
{{- end }}
{{- with (include "brand-records.joinedList" (dict "root" .root "component" .component "key" "extraVolumes") | fromYaml).list }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Node adds its authorities to those that every TLS connection trusts which names none of its own. */}}
{{- define "brand-records.extraEnv" -}}
{{- if or .root.Values.extraCa.configMap .root.Values.extraCa.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /authorities/extra/ca.crt
{{- end }}
{{- with (include "brand-records.joinedList" (dict "root" .root "component" .component "key" "extraEnv") | fromYaml).list }}
{{ toYaml . }}
{{- end }}
{{- end -}}
