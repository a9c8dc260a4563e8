import { FULLNAME, render, valuesOf, type KubernetesObject } from "./rendered-chart.ts";

/**
 * One promise: each installation is what its values say. The laptop and the large one differ from the standard in what is named here, and
 * in nothing else.
 */

const SERVICES = ["accounts", "console", "gateway", "plans", "records", "webhook"];
const WITH_DATABASE = ["accounts", "plans", "records", "webhook"];

let standard: Installation;
let laptop: Installation;
let large: Installation;
beforeAll(async () => {
  [standard, laptop, large] = [
    installationOf(await render(valuesOf("standard"))),
    installationOf(await render(valuesOf("laptop"))),
    installationOf(await render(valuesOf("large"))),
  ];
}, 300_000);

/** Objects by kind and name, such as `Deployment accounts`. */
type Installation = ReadonlyMap<string, KubernetesObject>;

const installationOf = (objects: readonly KubernetesObject[]): Installation =>
  new Map(objects.map((object) => [`${object.kind} ${object.metadata.name.replace(`${FULLNAME}-`, "")}`, object]));

const lacking = (from: Installation, others: Installation): string[] => [...others.keys()].filter((key) => !from.has(key)).toSorted();
const each = (kind: string, names: readonly string[]): string[] => names.map((name) => `${kind} ${name}`);
const specOf = (installation: Installation, key: string): Record<string, unknown> =>
  installation.get(key)?.["spec"] as Record<string, unknown>;

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

const podOf = (installation: Installation, service: string) =>
  installation.get(`Deployment ${service}`)?.["spec"].template.spec as {
    readonly containers: readonly [Container];
    readonly volumes: readonly {
      readonly name: string;
      readonly configMap?: object;
      readonly secret?: { readonly items: readonly object[] };
    }[];
  };
const containerOf = (installation: Installation, service: string): Container => podOf(installation, service).containers[0];

/** Returns the settings of each service that differ from the standard's; undefined for those that are left out. */
function changedSettings(installation: Installation): Record<string, Record<string, string | undefined>> {
  const changes = SERVICES.map((service) => {
    const [before, after] = [settingsOf(standard, service), settingsOf(installation, service)];
    const names = Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);
    return [service, Object.fromEntries(names.map((name) => [name, after[name]]))] as const;
  });
  return Object.fromEntries(changes);
}

const settingsOf = (installation: Installation, service: string): Record<string, string> =>
  Object.fromEntries(containerOf(installation, service).env.map(({ name, value }) => [name, value]));

/** What the other tests of this file leave out, of objects that both installations have. */
function remainder({ kind, metadata, spec, ...rest }: KubernetesObject): object {
  if (kind === "NetworkPolicy") return { metadata, ...rest, podSelector: spec.podSelector, policyTypes: spec.policyTypes };
  if (kind === "HorizontalPodAutoscaler") return { metadata, ...rest, spec: { ...spec, minReplicas: 0, maxReplicas: 0 } };
  if (kind !== "Deployment") return { metadata, ...rest, spec };
  const { replicas: _, strategy, template, ...others } = structuredClone(spec);
  const [container] = template.spec.containers;
  for (const field of ["env", "resources", "volumeMounts"]) delete container[field];
  delete template.spec.volumes;
  delete strategy?.rollingUpdate?.maxSurge;
  return { metadata, ...rest, spec: { ...others, strategy, template } };
}

describe("the standard installation", () => {
  it("has a Deployment, Service, identity, certificate and policy for each process, a route, one autoscaler, and monitoring", () => {
    const kinds = [...standard.keys()].filter((key) => !/^(ConfigMap dashboard-|PrometheusRule )/.test(key));
    const ofEach = ["Certificate", "Deployment", "NetworkPolicy", "Service", "ServiceAccount"].flatMap((kind) => each(kind, SERVICES));
    expect(kinds).toEqual(expect.arrayContaining([...ofEach, ...each("PodDisruptionBudget", SERVICES)]));
    expect(kinds).toEqual(expect.arrayContaining(["HTTPRoute gateway", "HorizontalPodAutoscaler gateway", `PodMonitor ${FULLNAME}`]));
  });

  it("gives each process its settings", () => {
    const common = {
      ADMIN_HOST: "0.0.0.0",
      ADMIN_PORT: "9090",
      ENVIRONMENT: "live",
      LOG_LEVEL: "info",
      RPC_TLS_CA: "/certificates/ca.crt",
      RPC_TLS_CERT: "/certificates/tls.crt",
      RPC_TLS_KEY: "/certificates/tls.key",
      STOP_GRACE_MS: "5000",
    };
    const service = { ...common, RPC_HOST: "0.0.0.0", RPC_PORT: "7000", DATABASE_URL_FILE: "/secrets/DATABASE_URL" };
    const edge = { ...common, HOST: "0.0.0.0", PUBLIC_URL: "https://records.example" };
    const kafka = {
      KAFKA_BROKERS: "kafka-bootstrap.kafka:9092",
      KAFKA_PARTITIONS: "12",
      KAFKA_REPLICATION_FACTOR: "3",
      KAFKA_RETENTION_HOURS: "168",
      KAFKA_TLS: "false",
      KAFKA_TOPIC: "brand.events",
    };
    const addresses = (...names: string[]): Record<string, string> =>
      Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_ADDRESS`, `dns:///${FULLNAME}-${name}:7000`]));
    const redis = { REDIS_URL_FILE: "/secrets/REDIS_URL" };
    expect(Object.fromEntries(SERVICES.map((name) => [name, settingsOf(standard, name)]))).toEqual({
      accounts: { ...service, ...redis, DATABASE_CONNECTIONS_MAX: "8", KEY_PEPPERS_FILE: "/secrets/KEY_PEPPERS" },
      console: { ...edge, ...addresses("accounts", "plans", "webhook"), PORT: "8081" },
      gateway: {
        ...edge,
        ...redis,
        ...addresses("accounts", "plans", "records"),
        CONSOLE_ADDRESS: `${FULLNAME}-console:8081`,
        PORT: "8080",
        TRUST_PROXY: "1",
      },
      plans: { ...service, ...addresses("accounts"), DATABASE_CONNECTIONS_MAX: "4" },
      records: { ...service, ...kafka, DATABASE_CONNECTIONS_MAX: "8" },
      webhook: {
        ...service,
        ...kafka,
        ...addresses("accounts"),
        DATABASE_CONNECTIONS_MAX: "6",
        PUBLIC_URL: "https://records.example",
        RECEIVER_SECRET_KEYS_FILE: "/secrets/RECEIVER_SECRET_KEYS",
      },
    });
  });

  it.each(SERVICES)(
    "replaces processes of %s one after another, spread over zones, without privileges, and reads secrets from files",
    (name) => {
      const { strategy, minReadySeconds, template } = specOf(standard, `Deployment ${name}`) as {
        strategy: object;
        minReadySeconds: number;
        template: KubernetesObject;
      };
      expect({ strategy, minReadySeconds }).toEqual({
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        minReadySeconds: 5,
      });
      const { containers, volumes, topologySpreadConstraints, ...pod } = template["spec"] as Record<string, KubernetesObject[]>;
      expect(pod).toEqual({
        serviceAccountName: `${FULLNAME}-${name}`,
        terminationGracePeriodSeconds: 30,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          fsGroup: 1000,
          runAsGroup: 1000,
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: "RuntimeDefault" },
        },
      });
      expect(topologySpreadConstraints?.map(({ topologyKey }) => topologyKey as string)).toEqual([
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
      ]);
      expect(containers).toMatchObject([
        {
          startupProbe: { httpGet: { path: "/healthz", port: "admin" } },
          livenessProbe: { httpGet: { path: "/healthz", port: "admin" } },
          readinessProbe: { httpGet: { path: "/readyz", port: "admin" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true },
        },
      ]);
      // 0440 in the text: octal in Kubernetes' YAML, decimal in this parser's.
      for (const volume of volumes ?? []) expect(volume).toMatchObject({ secret: { defaultMode: 440 } });
    },
  );
});

describe.each([
  ["laptop", () => laptop],
  ["large", () => large],
])("the %s installation", (_, installation) => {
  it("has the rest in common with the standard", () => {
    for (const [key, object] of installation()) {
      const same = standard.get(key);
      if (same !== undefined) expect([key, remainder(object)]).toEqual([key, remainder(same)]);
    }
  });
});

describe("the laptop installation", () => {
  it("has no route from outside, no autoscaler, no disruption budget and no monitoring, and adds nothing", () => {
    expect(lacking(standard, laptop)).toEqual([]);
    expect(lacking(laptop, standard).filter((key) => !/^ConfigMap dashboard-|^PrometheusRule /.test(key))).toEqual([
      "HTTPRoute gateway",
      "HorizontalPodAutoscaler gateway",
      ...each("PodDisruptionBudget", SERVICES),
      `PodMonitor ${FULLNAME}`,
    ]);
    expect([...laptop.keys()].filter((key) => /^(ConfigMap|PrometheusRule) /.test(key))).toEqual([]);
  });

  it("runs one process of each service", () => {
    expect(SERVICES.map((service) => specOf(laptop, `Deployment ${service}`)["replicas"])).toEqual(SERVICES.map(() => 1));
  });

  it("is a test environment without Redis, Kafka and proxies, where records calls webhook", () => {
    const place = { ENVIRONMENT: "test" };
    const publicPlace = { ...place, PUBLIC_URL: "http://localhost:8080" };
    const kafka = Object.fromEntries(
      ["BROKERS", "TOPIC", "PARTITIONS", "REPLICATION_FACTOR", "RETENTION_HOURS", "TLS"].map((name) => [`KAFKA_${name}`, undefined]),
    );
    expect(changedSettings(laptop)).toEqual({
      accounts: { ...place, DATABASE_CONNECTIONS_MAX: "4", REDIS_URL_FILE: undefined },
      console: publicPlace,
      gateway: { ...publicPlace, REDIS_URL_FILE: undefined, TRUST_PROXY: undefined },
      plans: place,
      records: { ...place, ...kafka, DATABASE_CONNECTIONS_MAX: "4", WEBHOOK_ADDRESS: `dns:///${FULLNAME}-webhook:7000` },
      webhook: { ...publicPlace, ...kafka, DATABASE_CONNECTIONS_MAX: "4" },
    });
    const rules = specOf(laptop, "NetworkPolicy webhook")["ingress"] as { readonly from: readonly KubernetesObject[] }[];
    const callers = rules.at(-1)?.from.map(({ podSelector }) => podSelector.matchLabels["app.kubernetes.io/component"] as string);
    expect(callers?.toSorted()).toEqual(["console", "operator", "records"]);
  });

  it("mounts no secrets of Redis", () => {
    expect(podOf(laptop, "gateway").volumes.map(({ name }) => name)).not.toContain("secrets");
    const secrets = podOf(laptop, "accounts").volumes.find(({ name }) => name === "secrets");
    expect(secrets?.secret?.items.map((item) => (item as { readonly key: string }).key)).toEqual(["DATABASE_URL", "KEY_PEPPERS"]);
  });
});

describe("the large installation", () => {
  it("adds secrets from a store, autoscalers of every service, and migrations", () => {
    expect(lacking(large, standard)).toEqual([]);
    expect(lacking(standard, large)).toEqual([
      ...each("ExternalSecret", ["accounts", "accounts-migration", "gateway", "plans", "plans-migration"]),
      ...each("ExternalSecret", ["records", "records-migration", "webhook", "webhook-migration"]),
      ...each("HorizontalPodAutoscaler", ["accounts", "console", "plans", "records"]),
      ...each("Job", ["accounts-migration", "plans-migration", "records-migration", "webhook-migration"]),
      "ScaledObject webhook",
    ]);
  });

  it("scales services by their CPU, webhook by what waits", () => {
    const { scaleTargetRef: _, metrics, behavior } = specOf(large, "HorizontalPodAutoscaler records");
    expect({ metrics, behavior }).toEqual({
      metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }],
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
    });
    const serverAddress = "http://prometheus-operated.monitoring:9090";
    const waiting = (metric: string): string => `max(${metric}{job="brand-records",namespace="records"}) or vector(0)`;
    expect(specOf(large, "ScaledObject webhook")).toEqual({
      scaleTargetRef: { name: `${FULLNAME}-webhook` },
      minReplicaCount: 6,
      maxReplicaCount: 48,
      advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 300 } } } },
      fallback: { failureThreshold: 3, replicas: 6, behavior: "currentReplicasIfHigher" },
      triggers: [
        { type: "prometheus", metadata: { serverAddress, query: waiting("deliveries_oldest_due_seconds"), threshold: "15" } },
        { type: "prometheus", metadata: { serverAddress, query: waiting("intake_lag_messages"), threshold: "1000" } },
      ],
    });
  });

  it("traces, lets Jobs migrate, and reaches Redis and Kafka over TLS with a login of each service", () => {
    const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel-collector.monitoring:4318", OTEL_TRACES_SAMPLER_ARG: "0.01" };
    const redis = { REDIS_TLS_CA: "/authorities/redis/ca.crt" };
    const kafkaOf = (KAFKA_SASL_USERNAME: string) => ({
      KAFKA_BROKERS: "kafka-0.kafka:9093,kafka-1.kafka:9093,kafka-2.kafka:9093",
      KAFKA_PARTITIONS: "48",
      KAFKA_TLS: "true",
      KAFKA_TLS_CA: "/authorities/kafka/ca.crt",
      KAFKA_SASL_MECHANISM: "scram-sha-512",
      KAFKA_SASL_USERNAME,
      KAFKA_SASL_PASSWORD_FILE: "/secrets/KAFKA_SASL_PASSWORD",
    });
    const migrated = { ...tracing, MIGRATE_AT_START: "false" };
    expect(changedSettings(large)).toEqual({
      accounts: { ...migrated, ...redis, DATABASE_CONNECTIONS_MAX: "10" },
      console: tracing,
      gateway: { ...tracing, ...redis },
      plans: migrated,
      records: { ...migrated, ...kafkaOf("records") },
      webhook: { ...migrated, ...kafkaOf("webhook"), DATABASE_CONNECTIONS_MAX: "8" },
    });
  });

  it("mounts the authorities of the databases that each service reaches", () => {
    const authoritiesOf = (service: string): string[] =>
      podOf(large, service).volumes.flatMap(({ name, configMap }) => (configMap === undefined ? [] : [name.replace("-authority", "")]));
    expect(Object.fromEntries(SERVICES.map((service) => [service, authoritiesOf(service).toSorted()]))).toEqual({
      accounts: ["postgres", "redis"],
      console: [],
      gateway: ["redis"],
      plans: ["postgres"],
      records: ["kafka", "postgres"],
      webhook: ["kafka", "postgres"],
    });
    for (const service of SERVICES) {
      const mounted = containerOf(large, service).volumeMounts.filter(({ mountPath }) => mountPath.startsWith("/authorities/"));
      expect(mounted).toHaveLength(authoritiesOf(service).length);
      for (const mount of mounted) {
        expect(mount).toEqual({ name: mount.name, mountPath: `/authorities/${mount.name.replace("-authority", "")}`, readOnly: true });
      }
    }
  });

  it("takes the secrets of each service from its entry at the store, those of migrations too", () => {
    const propertiesOf = (name: string): string[] => {
      const { data, ...rest } = specOf(large, `ExternalSecret ${name}`);
      expect(rest).toEqual({
        refreshInterval: "1h",
        secretStoreRef: { kind: "ClusterSecretStore", name: "vault" },
        target: { name: `${FULLNAME}-${name}`, creationPolicy: "Owner" },
      });
      return (data as { readonly secretKey: string; readonly remoteRef: object }[]).map(({ secretKey, remoteRef }) => {
        expect(remoteRef).toEqual({ key: `brand-records/${name.replace("-migration", "")}`, property: secretKey });
        return secretKey;
      });
    };
    expect(propertiesOf("gateway")).toEqual(["REDIS_URL"]);
    expect(propertiesOf("accounts")).toEqual(["DATABASE_URL", "KEY_PEPPERS", "REDIS_URL"]);
    expect(propertiesOf("plans")).toEqual(["DATABASE_URL"]);
    expect(propertiesOf("records")).toEqual(["DATABASE_URL", "KAFKA_SASL_PASSWORD"]);
    expect(propertiesOf("webhook")).toEqual(["DATABASE_URL", "RECEIVER_SECRET_KEYS", "KAFKA_SASL_PASSWORD"]);
    for (const service of WITH_DATABASE) expect(propertiesOf(`${service}-migration`)).toEqual(["MIGRATION_DATABASE_URL"]);
  });

  it("migrates each schema with the owner's login, in a pod that reaches Postgres alone", () => {
    for (const service of WITH_DATABASE) {
      const { podFailurePolicy, template } = specOf(large, `Job ${service}-migration`) as {
        podFailurePolicy: object;
        template: KubernetesObject;
      };
      expect(podFailurePolicy).toEqual({
        rules: [{ action: "FailJob", onExitCodes: { containerName: "migration", operator: "In", values: [2, 78] } }],
      });
      const { containers, volumes, securityContext, ...pod } = template["spec"];
      expect(pod).toEqual({
        restartPolicy: "Never",
        serviceAccountName: `${FULLNAME}-${service}`,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
      });
      expect(securityContext).toEqual(large.get(`Deployment ${service}`)?.["spec"].template.spec.securityContext);
      const [{ command, env, volumeMounts }] = containers;
      expect(command).toEqual(["node", "--enable-source-maps", `services/${service}/dist/migrate.js`]);
      expect(env).toEqual([
        { name: "LOG_LEVEL", value: "info" },
        { name: "DATABASE_URL_FILE", value: "/secrets/DATABASE_URL" },
        { name: "MIGRATION_DATABASE_URL_FILE", value: "/migration/MIGRATION_DATABASE_URL" },
      ]);
      expect(volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual([
        "/secrets",
        "/migration",
        "/authorities/postgres",
      ]);
      expect(volumes[1].secret.secretName).toBe(`${FULLNAME}-${service}-migration`);
    }
    // The policy is there without a Job, too: the first one starts before anything else of its upgrade exists.
    for (const installation of [standard, large]) {
      expect(specOf(installation, "NetworkPolicy migration")).toMatchObject({
        policyTypes: ["Egress"],
        egress: [{ ports: [{ port: 5432 }] }],
      });
    }
  });
});
