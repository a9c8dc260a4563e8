{{- define "brand-records.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
# Reads the mounted Secrets.
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "brand-records.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "brand-records.spread" -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "brand-records.selector" $ | nindent 6 }}
  # Each revision for itself: old pods that are about to go do not count.
  matchLabelKeys: [pod-template-hash]
{{- end }}
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
{{- end -}}
