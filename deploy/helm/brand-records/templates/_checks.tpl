{{/* What the schema cannot say. */}}
{{- define "brand-records.checks" -}}
{{- $v := .Values -}}
{{- $services := include "brand-records.services" . | fromYaml -}}
{{- $servers := dict -}}
{{- range $name, $facts := $services -}}
  {{- $own := index $v $name -}}
  {{- if and $own.autoscaling.enabled (lt (int $own.autoscaling.maxReplicas) (int $own.autoscaling.minReplicas)) -}}{{- fail (printf "%s.autoscaling: maxReplicas is below minReplicas" $name) -}}{{- end -}}
  {{- if $facts.sessions -}}
    {{- $processes := add (int (include "brand-records.replicasMax" $own)) (int ($own.maxSurge | default 1)) -}}
    {{- $each := add (int $own.databaseConnections) (int $facts.sessions) -}}
    {{- $migration := ternary 1 0 $v.migrations.job -}}
    {{- $owner := ternary (printf "records.cells.%v." $facts.cell) (ternary (printf "%s." $name) "" (not (empty $own.postgres))) (not (empty $facts.cell)) -}}
    {{- $server := get $servers $owner | default (dict "postgres" (merge (dict) ($own.postgres | default dict) $v.postgres) "needed" 0 "parts" list) -}}
    {{- $_ := set $server "needed" (add $server.needed (mul $processes $each) $migration) -}}
    {{- $_ := set $server "parts" (append $server.parts (printf "%s %d processes x %d" $name $processes $each)) -}}
    {{- $_ := set $servers $owner $server -}}
  {{- end -}}
  {{- if and $facts.cell (gt (len (include "brand-records.migrationSecret" (dict "root" $ "component" $name))) 63) -}}{{- fail (printf "records.cells: the names of %s are too long: set a shorter fullnameOverride, or name it shorter" $facts.cell) -}}{{- end -}}
{{- end -}}
{{- range $owner, $server := $servers -}}
  {{- $available := sub (int $server.postgres.maxConnections) (int $server.postgres.reservedConnections) -}}
  {{- if gt (int $server.needed) (int $available) -}}{{- fail (printf "%spostgres.maxConnections: %d less %d reserved are too few: the processes need up to %d during a rollout (%s). Raise max_connections of Postgres and this value, or lower databaseConnections or replicas" $owner (int $server.postgres.maxConnections) (int $server.postgres.reservedConnections) (int $server.needed) (join ", " $server.parts)) -}}{{- end -}}
{{- end -}}
{{- $refusals := dict
  (printf "webhook: at most %d processes (kafka.partitions) take events" (int $v.kafka.partitions))
  (and $v.kafka.brokers (gt (int (include "brand-records.replicasMax" $v.webhook)) (int $v.kafka.partitions)))
  "kafka.saslMechanism: kafka.brokers is empty" (and (not $v.kafka.brokers) $v.kafka.saslMechanism)
  "kafka.saslUsernames: records and webhook are required with kafka.saslMechanism"
  (and $v.kafka.saslMechanism (not (and $v.kafka.saslUsernames.records $v.kafka.saslUsernames.webhook)))
  "extraCa: set configMap or secret, not both" (and $v.extraCa.configMap $v.extraCa.secret)
  "publicUrl: must be https outside of environment test: keys and sessions would travel in the clear"
  (and (hasPrefix "http://" $v.publicUrl) (ne $v.environment "test"))
  "oidc.clientId: is required with oidc.issuer" (and $v.oidc.issuer (not $v.oidc.clientId))
  "certificates.issuerRef.name: name an Issuer of cert-manager, or set certificates.certManager=false and make the Secrets"
  (and $v.certificates.certManager (not $v.certificates.issuerRef.name))
  "externalSecrets.storeRef.name: is required" (and $v.externalSecrets.enabled (not $v.externalSecrets.storeRef.name))
  "httpRoute.parentRefs: name your Gateway" (and $v.httpRoute.enabled (not $v.httpRoute.parentRefs))
  "trustProxy: set the proxies before the gateway, such as --set-string trustProxy=1 for the ingress or Gateway alone, or their addresses and subnets. Without it every caller has the proxy's address: limits count all people as one, and the audit log names the proxy"
  (and (or $v.httpRoute.enabled $v.ingress.enabled) (regexMatch "^0*$" $v.trustProxy))
-}}
{{- range $message, $isWrong := $refusals -}}{{- if $isWrong -}}{{- fail $message -}}{{- end -}}{{- end -}}
{{- range list "maintenance" "port" "limit" "resource" "extraCa" "route" -}}{{- include (printf "brand-records.%sChecks" .) $ -}}{{- end -}}
{{- range $name, $files := dict "prometheusRule" "files/rules/*.yml" "dashboards" "files/dashboards/*.json" -}}
  {{- if and (index $v.monitoring $name).enabled (not ($.Files.Glob $files)) -}}{{- fail (printf "monitoring.%s: this chart lacks %s. Run npm run chart in the repository, which copies them into it" $name $files) -}}{{- end -}}
{{- end -}}
{{- if not (regexMatch "^\\d{0,2}$" $v.trustProxy) -}}
  {{- $octet := "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)" -}}
  {{- $v4 := printf "^%s(\\.%s){3}(/([1-9]|[12]\\d|3[0-2]))?$" $octet $octet -}}
  {{- $v6 := "^[0-9a-fA-F:]*:[0-9a-fA-F:.]*(/([1-9]\\d?|1[01]\\d|12[0-8]))?$" -}}
  {{- range regexSplit ",\\s*" $v.trustProxy -1 -}}
    {{- if not (or (regexMatch $v4 .) (regexMatch $v6 .)) -}}{{- fail (printf "trustProxy: %s is no address and no subnet. Set one number of hops, or addresses and subnets such as 10.0.0.0/8" .) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Cookies and links have publicUrl's host. `*.` stands for any names before it. */}}
{{- define "brand-records.routeChecks" -}}
{{- $host := (urlParse .Values.publicUrl).hostname -}}
{{- range $route, $names := dict "httpRoute" .Values.httpRoute.hostnames "ingress" (list .Values.ingress.host) -}}
  {{- range ternary $names list (index $.Values $route).enabled -}}
    {{- if not (or (has . (list "" $host)) (and (hasPrefix "*." .) (hasSuffix (trimPrefix "*" .) $host))) -}}{{- fail (printf "%s: %s is not the host of publicUrl, %s" $route . $host) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* The API server refuses these too, with half of a release installed. */}}
{{- define "brand-records.resourceChecks" -}}
{{- range $owner := concat (list "console" "operator" "maintenance") (keys (include "brand-records.services" . | fromYaml) | sortAlpha) | uniq -}}
  {{- $resources := (index $.Values $owner).resources -}}
  {{- range $name, $request := $resources.requests -}}
    {{- $limit := get ($resources.limits | default dict) $name | default $request -}}
    {{- if lt (include "brand-records.amount" $limit | float64) (include "brand-records.amount" $request | float64) -}}{{- fail (printf "%s.resources: the limit of %s, %v, is below its request, %v" $owner $name $limit $request) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* A quantity such as 500m or 1.5Gi as a number. */}}
{{- define "brand-records.amount" -}}
{{- $factors := dict "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if kindIs "string" . -}}{{- mulf (regexFind "^[0-9.]+" .) (get $factors (regexFind "[a-zA-Z]*$" .) | default 1) -}}{{- else -}}{{- . -}}{{- end -}}
{{- end -}}

{{/* What exists already. Otherwise pods wait, and their events name the key. */}}
{{- define "brand-records.extraCaChecks" -}}
{{- $key := .Values.extraCa.key -}}
{{- range $kind, $name := dict "ConfigMap" .Values.extraCa.configMap "Secret" .Values.extraCa.secret -}}
  {{- if $name -}}
    {{- $object := lookup "v1" $kind $.Release.Namespace $name -}}
    {{- $data := merge (dict) ($object.data | default dict) ($object.binaryData | default dict) -}}
    {{- if and $object (not (hasKey $data $key)) -}}{{- fail (printf "extraCa.key: the %s %s has no key %s. It has: %s" $kind $name $key (keys $data | sortAlpha | join ", ")) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* What settings name must be what their policies open. */}}
{{- define "brand-records.portChecks" -}}
{{- $policy := .Values.networkPolicy -}}
{{- if $policy.enabled -}}
{{- range .Values.kafka.brokers -}}
  {{- $port := regexFind "[0-9]+$" . -}}
  {{- if ne (int $port) (int $policy.kafka.port) -}}{{- fail (printf "kafka.brokers: the policies open port %d, and %s has another: set networkPolicy.kafka.port=%s" (int $policy.kafka.port) . $port) -}}{{- end -}}
{{- end -}}
{{- range (include "brand-records.receiverDnsServers" . | fromJson).wrong -}}
  {{- fail (printf "RECEIVER_DNS_SERVERS: %s is no address with a port, such as 10.0.0.2:53 or [fd00::2]:53: no policy can open it" .) -}}
{{- end -}}
{{- range $name, $url := dict "otlp" .Values.tracing.endpoint "oidc" .Values.oidc.issuer -}}
  {{- if $url -}}
    {{- $ports := dict "http" "80" "https" "443" -}}
    {{- $port := regexFind ":[0-9]+$" (urlParse $url).host | trimPrefix ":" | default (get $ports (urlParse $url).scheme) -}}
    {{- $open := (index $policy $name).port -}}
    {{- if ne (int $port) (int $open) -}}{{- fail (printf "networkPolicy.%s.port: the policies open %d, and %s has port %s: set networkPolicy.%s.port=%s" $name (int $open) $url $port $name $port) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The gateway counts by them, and the console shows them. */}}
{{- define "brand-records.limitChecks" -}}
{{- if .Values.console.enabled -}}
{{- $ofGateway := include "brand-records.mergedMap" (dict "root" . "component" "gateway" "key" "settings") | fromYaml -}}
{{- $ofConsole := include "brand-records.mergedMap" (dict "root" . "component" "console" "key" "settings") | fromYaml -}}
{{- range list "RATE_LIMIT_PLUS" "RATE_LIMIT_PRO" "RATE_LIMIT_ENTERPRISE" -}}
  {{- if ne (get $ofGateway .) (get $ofConsole .) -}}{{- fail (printf "settings: %s is %s for the gateway and %s for the console, which shows it to brands: set it in settings, for both" . (get $ofGateway . | default "the default") (get $ofConsole . | default "the default")) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "brand-records.maintenanceChecks" -}}
{{- $m := .Values.maintenance -}}
{{- if $m.program -}}
{{- $migrated := without (keys (include "brand-records.services" . | fromYaml) | sortAlpha) "gateway" "console" -}}
{{- $services := dict "migrate" $migrated "after-restore" (list "accounts" "webhook") "re-encrypt" (list "webhook") "audit-export" (list "") -}}
{{- $possible := get $services $m.program -}}
{{- if not (has $m.service $possible) -}}{{- fail (printf "maintenance.service: %s needs %s" $m.program ($possible | join " or " | default "none")) -}}{{- end -}}
{{- if and (eq $m.program "after-restore") (ne (int (index .Values $m.service).replicas) 0) -}}{{- fail (printf "maintenance.program: after-restore runs while no process of %s does: set %s.replicas=0 first" $m.service $m.service) -}}{{- end -}}
{{- if and (eq $m.program "audit-export") (not $m.claim) -}}{{- fail "maintenance.claim: audit-export needs a PersistentVolumeClaim for its file" -}}{{- end -}}
{{- if and (eq $m.program "audit-export") (not .Values.operator.enabled) -}}{{- fail "maintenance.program: audit-export has the operator's ServiceAccount and certificate, which operator.enabled=false removes" -}}{{- end -}}
{{- end -}}
{{- end -}}
