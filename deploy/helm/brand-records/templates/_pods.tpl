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

{{/* What a container reads: certificates, secret settings, authorities. Takes dict root, component, facts. */}}
{{- define "brand-records.mounts" -}}
- { name: certificates, mountPath: /certificates, readOnly: true }
{{- if .facts.secrets }}
- { name: secrets, mountPath: /secrets, readOnly: true }
{{- end }}
{{- range $name, $map := include "brand-records.authorities" . | fromYaml }}
- { name: {{ $name }}-authority, mountPath: /authorities/{{ $name }}, readOnly: true }
{{- end }}
{{ include "brand-records.extraMounts" . }}
{{- end -}}

{{- define "brand-records.volumes" -}}
- name: certificates
  secret: { secretName: {{ include "brand-records.certificateSecret" . }}, defaultMode: 0440 }
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
{{- range $name, $map := include "brand-records.authorities" . | fromYaml }}
- name: {{ $name }}-authority
  configMap: { name: {{ $map }}, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{ include "brand-records.extraVolumes" . }}
{{- end -}}

{{/* Of every container: the private authority, and what values add. Takes dict root, component. */}}
{{- define "brand-records.extraMounts" -}}
{{- if include "brand-records.hasExtraCa" . }}
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
{{- if include "brand-records.hasExtraCa" . }}
- name: NODE_EXTRA_CA_CERTS
  value: /authorities/extra/ca.crt
{{- end }}
{{- with (include "brand-records.joinedList" (dict "root" .root "component" .component "key" "extraEnv") | fromYaml).list }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "brand-records.hasExtraCa" -}}
{{- if or .root.Values.extraCa.configMap .root.Values.extraCa.secret -}}true{{- end -}}
{{- end -}}
