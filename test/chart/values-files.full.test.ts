import { FULLNAME, render, valuesOf, type KubernetesObject } from "./rendered-chart.ts";

/**
 * One promise: the laptop and the large installation differ from the standard one, whose render is test/chart/renders/standard.yaml, in
 * what is named here, and in nothing else.
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
  const settings = (of: Installation, service: string): Map<string, string> =>
    new Map(containerOf(of, service).env.map(({ name, value }) => [name, value]));
  const changes = SERVICES.map((service) => {
    const [before, after] = [settings(standard, service), settings(installation, service)];
    const names = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
    return [service, Object.fromEntries(names.map((name) => [name, after.get(name)]))] as const;
  });
  return Object.fromEntries(changes);
}

/** Requested CPU and memory, and the limit of memory. */
function resources(installation: Installation): Record<string, string> {
  const textOf = ({ requests, limits }: Record<string, Record<string, string>>): string =>
    `${requests?.["cpu"]} ${requests?.["memory"]} of ${limits?.["memory"]}`;
  return Object.fromEntries(SERVICES.map((service) => [service, textOf(containerOf(installation, service).resources as never)]));
}

/** Ports that the policy of each service opens to the outside, but that of DNS. */
function egressPorts(installation: Installation): Record<string, number[]> {
  const portsOf = (service: string): number[] =>
    (specOf(installation, `NetworkPolicy ${service}`)["egress"] as { readonly ports: readonly { readonly port: number }[] }[])
      .flatMap(({ ports }) => ports.map(({ port }) => port))
      .filter((port) => port !== 53);
  return Object.fromEntries(SERVICES.map((service) => [service, portsOf(service)]));
}

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

  it("runs one small process of each service", () => {
    expect(SERVICES.map((service) => specOf(laptop, `Deployment ${service}`)["replicas"])).toEqual(SERVICES.map(() => 1));
    expect(resources(laptop)).toEqual({
      accounts: "10m 128Mi of 384Mi",
      console: "10m 128Mi of 384Mi",
      gateway: "25m 128Mi of 512Mi",
      plans: "10m 128Mi of 384Mi",
      records: "25m 128Mi of 512Mi",
      webhook: "25m 128Mi of 768Mi",
    });
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
    expect(egressPorts(laptop)).toEqual({
      accounts: [5432],
      console: [7000, 7000, 7000],
      gateway: [7000, 7000, 7000, 8081],
      plans: [7000, 5432],
      records: [7000, 5432],
      webhook: [7000, 5432, 443],
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

  it("scales each service within its bounds, webhook by what waits", () => {
    const bounds = [...large].flatMap(([key, { spec }]) =>
      key.startsWith("HorizontalPodAutoscaler ") ? [[key.split(" ")[1], spec.minReplicas as number, spec.maxReplicas as number]] : [],
    );
    expect(Object.fromEntries(bounds.map(([service, ...range]) => [service, range]))).toEqual({
      accounts: [4, 24],
      console: [3, 12],
      gateway: [20, 100],
      plans: [3, 12],
      records: [20, 100],
    });
    const surge = (service: string): number => large.get(`Deployment ${service}`)?.["spec"].strategy.rollingUpdate.maxSurge as number;
    expect(SERVICES.map(surge)).toEqual([1, 1, 10, 1, 10, 1]);
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

  it("runs larger processes", () => {
    expect(resources(large)).toEqual({
      accounts: "500m 256Mi of 512Mi",
      console: "50m 192Mi of 384Mi",
      gateway: "1 384Mi of 768Mi",
      plans: "50m 192Mi of 384Mi",
      records: "1 384Mi of 768Mi",
      webhook: "1 384Mi of 1Gi",
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
      const { backoffLimit, template } = specOf(large, `Job ${service}-migration`) as { backoffLimit: number; template: KubernetesObject };
      const { containers, volumes, securityContext, ...pod } = template["spec"];
      expect({ backoffLimit, ...pod }).toEqual({
        backoffLimit: 5,
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
