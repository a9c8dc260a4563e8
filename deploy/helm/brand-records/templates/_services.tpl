{{/* The process types, as YAML: what each has and needs. `sessions` are those beside its pool, at most, per process: a migration
     at start or an index build after it (1); of records imports (4) and the relay (1); of webhook sending (4), notifications (1) and a
     replay of dead letters (1). `provider`: it talks to the OpenID provider. `identity`: whose program and certificate it has, if not its own
     name's. Each cell of records is a type with the values of records, but for those of its own. */}}
{{- define "brand-records.services" -}}
{{- $redis := .Values.redis.enabled -}}
{{- $kafka := not (empty .Values.kafka.brokers) -}}
{{- $provider := and .Values.console.enabled (not (empty .Values.oidc.issuer)) -}}
{{- $sasl := and $kafka (not (empty .Values.kafka.saslMechanism)) -}}
gateway:
  program: gateway/dist/bundle/main.js
  http: 8080
  calls: [accounts, plans, records{{ range $name, $_ := .Values.records.cells }}, records-{{ $name }}{{ end }}]
  secrets: [{{ if $redis }}REDIS_URL{{ end }}]
  redis: {{ $redis }}
{{- if .Values.console.enabled }}
console:
  program: console/server/dist/bundle/main.js
  http: 8081
  calls: [accounts, plans, webhook]
  secrets: [{{ if $provider }}OIDC_CLIENT_SECRET{{ end }}]
  provider: {{ $provider }}
{{- end }}
accounts:
  program: services/accounts/dist/bundle/main.js
  sessions: 1
  calls: []
  secrets: [DATABASE_URL, KEY_PEPPERS{{ if $redis }}, REDIS_URL{{ end }}{{ if .Values.mail.from }}, SMTP_URL{{ end }}]
  redis: {{ $redis }}
  provider: {{ $provider }}
  mail: {{ not (empty .Values.mail.from) }}
{{- range $cell := prepend (keys .Values.records.cells | sortAlpha) "" }}
{{- if $cell }}
{{- $shared := omit $.Values.records "cells" "existingSecret" "certificateSecret" "postgres" | deepCopy }}
{{- $_ := set $.Values (printf "records-%s" $cell) (mergeOverwrite $shared (index $.Values.records.cells $cell | default dict)) }}
{{- end }}
records{{ with $cell }}-{{ . }}{{ end }}:
  program: services/records/dist/bundle/main.js
  identity: records
  cell: {{ $cell | quote }}
  sessions: 6
  calls: [{{ if not $kafka }}webhook{{ end }}]
  secrets: [DATABASE_URL{{ if $sasl }}, KAFKA_SASL_PASSWORD{{ end }}]
  kafka: {{ $kafka }}
{{- end }}
plans:
  program: services/plans/dist/bundle/main.js
  sessions: 1
  calls: [accounts]
  secrets: [DATABASE_URL]
webhook:
  program: services/webhook/dist/bundle/main.js
  sessions: 7
  calls: [accounts]
  secrets: [DATABASE_URL, RECEIVER_SECRET_KEYS{{ if $sasl }}, KAFKA_SASL_PASSWORD{{ end }}{{ if .Values.egressProxy.enabled }}, EGRESS_PROXY_URL{{ end }}]
  kafka: {{ $kafka }}
{{- end -}}

{{/*
Replicas of a type's Deployment; empty: they are its autoscaler's. Server-side apply takes away a field that Helm owns and no longer names: when
autoscaling was switched on, one process was left until the autoscaler had made others. So Helm goes on naming the field until the autoscaler
has changed it, and owns it then. Takes dict root, component.
*/}}
{{- define "brand-records.replicas" -}}
{{- $own := index .root.Values .component -}}
{{- if or (not $own.autoscaling.enabled) (eq (int $own.replicas) 0) -}}
{{- $own.replicas -}}
{{- else -}}
{{- $live := lookup "apps/v1" "Deployment" .root.Release.Namespace (printf "%s-%s" (include "brand-records.fullname" .root) .component) -}}
{{- $isOwned := false -}}
{{- range dig "metadata" "managedFields" list $live -}}
{{- if and (hasPrefix "helm" .manager) (eq .operation "Apply") (hasKey (dig "f:spec" dict .fieldsV1) "f:replicas") -}}{{- $isOwned = true -}}{{- end -}}
{{- end -}}
{{- if $isOwned -}}{{- max (int $live.spec.replicas) (int $own.autoscaling.minReplicas) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The most processes of a type at a time, without those of a rollout. */}}
{{- define "brand-records.replicasMax" -}}
{{- if and .autoscaling.enabled (ne (int .replicas) 0) -}}{{ .autoscaling.maxReplicas }}{{- else -}}{{ .replicas }}{{- end -}}
{{- end -}}

{{/* Authorities that a type needs, as YAML: name of the mount to ConfigMap. */}}
{{- define "brand-records.authorities" -}}
{{- $v := .root.Values -}}
{{- $facts := merge (dict "postgres" .facts.sessions) .facts }}
{{- range list "postgres" "redis" "kafka" "mail" }}
{{- if and (get $facts .) (index $v .).caConfigMap }}
{{ . }}: {{ (index $v .).caConfigMap }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Environment of a process that the chart decides, as YAML: name to text. */}}
{{- define "brand-records.ownSettings" -}}
{{- $v := .root.Values -}}
{{- $facts := .facts -}}
{{- $full := include "brand-records.fullname" .root -}}
ENVIRONMENT: {{ $v.environment | quote }}
LOG_LEVEL: {{ $v.logLevel | quote }}
ADMIN_HOST: {{ $v.listenHost | quote }}
ADMIN_PORT: "9090"
STOP_GRACE_MS: {{ $v.stopGraceMs | int64 | quote }}
RPC_TLS_CERT: /certificates/tls.crt
RPC_TLS_KEY: /certificates/tls.key
RPC_TLS_CA: /certificates/ca.crt
{{- range .facts.secrets }}
{{ . }}_FILE: /secrets/{{ . }}
{{- end }}
{{- range .facts.calls }}{{ if not (hasPrefix "records-" .) }}
{{ upper . }}_ADDRESS: {{ include "brand-records.target" (dict "root" $.root "component" .) }}
{{- end }}{{ end }}
{{- with $v.tracing.endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ . | quote }}
{{- end }}
{{- with $v.tracing.sampleRatio }}
OTEL_TRACES_SAMPLER_ARG: {{ . | quote }}
{{- end }}
{{- if .facts.http }}
HOST: {{ $v.listenHost | quote }}
PORT: {{ .facts.http | quote }}
{{- else }}
RPC_HOST: {{ $v.listenHost | quote }}
RPC_PORT: "7000"
DATABASE_CONNECTIONS_MAX: {{ (index $v .component).databaseConnections | int64 | quote }}
{{- if and $v.migrations.job .isMaintenance }}
MIGRATION_DATABASE_URL_FILE: /migration/MIGRATION_DATABASE_URL
{{- else if $v.migrations.job }}
MIGRATE_AT_START: "false"
{{- end }}
{{- end }}
{{- if or .facts.mail (has .component (list "gateway" "console" "webhook")) }}
PUBLIC_URL: {{ required "publicUrl: set the origin at which callers reach the gateway, such as https://records.example" $v.publicUrl | quote }}
{{- end }}
{{- range $name, $_ := omit (include "brand-records.authorities" . | fromYaml) "postgres" }}
{{ eq $name "mail" | ternary "smtp" $name | upper }}_TLS_CA: /authorities/{{ $name }}/ca.crt
{{- end }}
{{- if .facts.mail }}
MAIL_FROM: {{ $v.mail.from | quote }}
{{- end }}
{{- if .facts.kafka }}
KAFKA_BROKERS: {{ join "," $v.kafka.brokers | quote }}
KAFKA_TOPIC: {{ $v.kafka.topic | quote }}
KAFKA_PARTITIONS: {{ $v.kafka.partitions | int64 | quote }}
KAFKA_REPLICATION_FACTOR: {{ $v.kafka.replicationFactor | int64 | quote }}
KAFKA_RETENTION_HOURS: {{ $v.kafka.retentionHours | int64 | quote }}
KAFKA_TLS: {{ $v.kafka.tls | quote }}
{{- if $v.kafka.saslMechanism }}
KAFKA_SASL_MECHANISM: {{ $v.kafka.saslMechanism | quote }}
KAFKA_SASL_USERNAME: {{ index $v.kafka.saslUsernames (.facts.identity | default .component) | quote }}
{{- end }}
{{- end }}
{{- if eq .component "gateway" }}
{{- with include "brand-records.cellTargets" .root }}
RECORDS_CELLS: {{ . | quote }}
{{- end }}
{{- if $v.console.enabled }}
CONSOLE_ADDRESS: {{ $full }}-console:8081
{{- end }}
{{- with $v.trustProxy }}
TRUST_PROXY: {{ . | quote }}
{{- end }}
{{- end }}
{{- if .facts.provider }}
OIDC_ISSUER: {{ $v.oidc.issuer | quote }}
OIDC_CLIENT_ID: {{ $v.oidc.clientId | quote }}
OIDC_TRUST_EMAIL: {{ $v.oidc.trustEmail | quote }}
{{- end }}
{{- if eq .component "console" }}
{{- if and .facts.provider $v.oidc.name }}
OIDC_NAME: {{ $v.oidc.name | quote }}
{{- end }}
{{- with $v.oidc.signInLinks }}
SIGN_IN_LINKS: {{ . | quote }}
{{- end }}
{{- end }}
{{- if eq .component "webhook" }}
{{- if $v.egressProxy.enabled }}
EGRESS_PROXY_MODE: {{ $v.egressProxy.mode | quote }}
{{- end }}
{{- with $v.networkPolicy.receiverPorts }}
RECEIVER_PORTS: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The environment of a container: the chart's settings, then those of values. Takes dict root, component, facts. */}}
{{- define "brand-records.environment" -}}
{{- $own := include "brand-records.ownSettings" . | fromYaml -}}
{{- $given := include "brand-records.mergedMap" (dict "root" .root "component" .component "key" "settings") | fromYaml -}}
{{- range $name, $value := $given -}}
{{- if or (hasKey $own $name) (hasKey $own (printf "%s_FILE" $name)) -}}
{{- fail (printf "settings: %s of %s is set by the chart's own values; remove it" $name $.component) -}}
{{- end -}}
{{- end -}}
{{- $extra := (include "brand-records.joinedList" (dict "root" .root "component" .component "key" "extraEnv") | fromYaml).list -}}
{{- range $extra -}}
{{- if or (hasKey $own .name) (hasKey $own (printf "%s_FILE" .name)) (hasKey $given .name) -}}
{{- fail (printf "extraEnv: %s of %s is set by the chart or by settings; remove one" .name $.component) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := merge (dict) $own $given }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{ include "brand-records.extraEnv" . }}
{{- end -}}
