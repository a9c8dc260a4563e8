{{/* A pod of the release, as a peer. */}}
{{- define "brand-records.peer" -}}
- podSelector:
    matchLabels: {{- include "brand-records.selector" . | nindent 6 }}
{{- end -}}

{{/* A rule to peers of values; without any, to its port anywhere. */}}
{{- define "brand-records.egressTo" -}}
- ports: [{ port: {{ .port }} }]
  {{- with .to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "brand-records.ingressRules" -}}
{{- $v := .root.Values.networkPolicy -}}
{{- $component := .component -}}
{{- $root := .root -}}
- from:
    {{- include "brand-records.peer" (dict "root" $root "component" "operator") | nindent 4 }}
    {{- include "brand-records.peer" (dict "root" $root "component" "test") | nindent 4 }}
    {{- with $v.metricsFrom }}{{ toYaml . | nindent 4 }}{{ end }}
  ports: [{ port: 9090 }]
{{- if eq $component "gateway" }}
- ports: [{ port: 8080 }]
  {{- with $v.callers }}
  from:
    {{- include "brand-records.peer" (dict "root" $root "component" "operator") | nindent 4 }}
    {{- include "brand-records.peer" (dict "root" $root "component" "test") | nindent 4 }}
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- else if eq $component "console" }}
- ports: [{ port: 8081 }]
  from: {{- include "brand-records.peer" (dict "root" $root "component" "gateway") | nindent 4 }}
{{- else }}
- ports: [{ port: 7000 }]
  from:
    {{- include "brand-records.peer" (dict "root" $root "component" "operator") | nindent 4 }}
    {{- range $name, $facts := include "brand-records.services" $root | fromYaml }}
    {{- if has $component $facts.calls }}
    {{- include "brand-records.peer" (dict "root" $root "component" $name) | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- if eq $component "accounts" }}
    {{- /* After a restore of webhook: which brands were deleted since. */}}
    {{- include "brand-records.peer" (dict "root" $root "component" "maintenance") | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}

{{- define "brand-records.egressRules" -}}
{{- $v := .root.Values.networkPolicy -}}
{{- $root := .root -}}
{{- range .facts.calls }}
- ports: [{ port: 7000 }]
  to: {{- include "brand-records.peer" (dict "root" $root "component" .) | nindent 4 }}
{{- end }}
{{- if and (eq .component "gateway") .root.Values.console.enabled }}
- ports: [{ port: 8081 }]
  to: {{- include "brand-records.peer" (dict "root" $root "component" "console") | nindent 4 }}
{{- end }}
{{- $facts := merge (dict "postgres" .facts.sessions "otlp" .root.Values.tracing.endpoint) .facts }}
{{- range list "postgres" "redis" "kafka" "mail" "otlp" }}
{{- if get $facts . }}
{{ include "brand-records.egressTo" (index $v .) }}
{{- end }}
{{- end }}
{{- if eq .component "webhook" }}
{{- range (include "brand-records.receiverDnsServers" .root | fromJson).servers }}
- ports:
    - { port: {{ .port | int }}, protocol: UDP }
    - { port: {{ .port | int }}, protocol: TCP }
  to: [{ ipBlock: { cidr: {{ .cidr | quote }} } }]
{{- end }}
{{- if .root.Values.egressProxy.enabled }}
{{ include "brand-records.egressTo" $v.egressProxy }}
{{- else }}
{{ include "brand-records.publicEgress" (dict "root" $root "ports" (prepend $v.receiverPorts 443)) }}
{{- end }}
{{- end }}
{{- if .facts.provider }}
{{- if $v.oidc.to }}
{{ include "brand-records.egressTo" $v.oidc }}
{{- else }}
{{ include "brand-records.publicEgress" (dict "root" $root "ports" (list $v.oidc.port)) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The servers of RECEIVER_DNS_SERVERS as a list `servers` of cidr and port, and as `wrong` those that are no address. */}}
{{- define "brand-records.receiverDnsServers" -}}
{{- $servers := list -}}
{{- $wrong := list -}}
{{- $settings := include "brand-records.mergedMap" (dict "root" . "component" "webhook" "key" "settings") | fromYaml -}}
{{- range without (splitList "," (get $settings "RECEIVER_DNS_SERVERS")) "" -}}
  {{- $port := regexFind "^(\\d+\\.\\d+\\.\\d+\\.\\d+|\\[.*\\]):\\d{1,5}$" . | regexFind "\\d+$" | default "53" | int -}}
  {{- $address := regexReplaceAll "^(\\d+\\.\\d+\\.\\d+\\.\\d+|\\[.*\\]):\\d{1,5}$" . "${1}" -}}
  {{- $address = regexReplaceAll "^\\[(.*:.*)\\]$" $address "${1}" -}}
  {{- $octet := "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)" -}}
  {{- $isV4 := regexMatch (printf "^%s(\\.%s){3}$" $octet $octet) $address -}}
  {{- $isV6 := regexMatch "^[0-9a-fA-F:]*:[0-9a-fA-F:.]*$" $address -}}
  {{- if and (or $isV4 $isV6) (ge $port 1) (le $port 65535) -}}
    {{- $servers = append $servers (dict "cidr" (printf "%s/%s" $address (ternary "32" "128" $isV4)) "port" $port) -}}
  {{- else -}}
    {{- $wrong = append $wrong . -}}
  {{- end -}}
{{- end -}}
{{- dict "servers" $servers "wrong" $wrong | toJson -}}
{{- end -}}

{{/* To every public address. */}}
{{- define "brand-records.publicEgress" -}}
{{- $v := .root.Values.networkPolicy -}}
- ports:
    {{- range .ports }}
    - { port: {{ . | int }} }
    {{- end }}
  to:
    - ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson $v.privateRanges }} }
    - ipBlock: { cidr: "::/0", except: {{ toJson $v.privateRangesV6 }} }
{{- end -}}
