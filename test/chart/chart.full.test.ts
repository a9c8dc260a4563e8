import { readFileSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { helmAndKubectl } from "./kubernetes/helm-and-kubectl.ts";
import { objectValidator } from "./kubernetes/schemas.ts";
import {
  CHART,
  copyOfChart,
  FULLNAME,
  objectsOf,
  RELEASE,
  render,
  renderText,
  VALUE_FILES,
  valuesOf,
  type KubernetesObject,
} from "./rendered-chart.ts";

const ROOT = process.cwd();
const ADDITIONS = join(ROOT, "test/chart/values-additions.yaml");
const MAINTENANCE = [
  "maintenance.program=migrate,maintenance.service=records",
  "maintenance.program=after-restore,maintenance.service=accounts,accounts.replicas=0,maintenance.claim=restore",
  "maintenance.program=re-encrypt,maintenance.service=webhook",
  "maintenance.program=audit-export,maintenance.claim=audit",
];
const LAPTOP = valuesOf("laptop");
/** One as records, and one with values of its own. */
const CELLS = ["--set-json", 'records.cells={"b":{},"south":{"replicas":0,"postgres":{"maxConnections":2000}}}'];
const ROUTED = ["--set", "publicUrl=https://records.example:8443", "--set-string", "trustProxy=1"];

const ofKind = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] => objects.filter((object) => object.kind === kind);

/** The first needs to fetch helm. */
jest.setTimeout(300_000);

describe("objects have no unknown fields, and values as Kubernetes and the operators describe them", () => {
  let problemsOf: (object: KubernetesObject) => string[];
  beforeAll(async () => {
    problemsOf = await objectValidator();
  });

  it.each<[string, readonly string[]]>([
    ...VALUE_FILES.map((file) => [file, valuesOf(file)] as [string, readonly string[]]),
    ["an upgrade", [...valuesOf("large"), "--is-upgrade"]],
    ["additions of a platform team", ["--values", ADDITIONS]],
    ["cells", [...valuesOf("large"), ...CELLS]],
    ...MAINTENANCE.map((values) => [values, [...valuesOf("large"), "--set", values]] as [string, readonly string[]]),
  ])("%s", async (_, args) => {
    const objects = await render(args);
    expect(objects.length).toBeGreaterThan(20);
    expect(objects.flatMap(problemsOf)).toEqual([]);
  });

  it("refuses an unknown field, a wrong value, and a kind that does not exist", async () => {
    const text = await renderText(LAPTOP);
    const problemsWith = (from: string, to: string): string[] => objectsOf(text.replace(from, to)).flatMap(problemsOf);
    expect(problemsWith("minReadySeconds:", "minimumReadySeconds:")).toEqual([expect.stringContaining("minimumReadySeconds")]);
    expect(problemsWith("minReadySeconds: 5", "minReadySeconds: five")).toEqual([expect.stringContaining("must be integer")]);
    expect(problemsWith("apiVersion: apps/v1", "apiVersion: apps/v2")).toEqual([expect.stringContaining("no such kind")]);
  });
});

describe("renders", () => {
  it.each(VALUE_FILES)("%s passes helm lint", async (file) => {
    const { helm } = await helmAndKubectl();
    await helm(["lint", "--strict", CHART, ...valuesOf(file)]);
  });

  it("installs the rules and dashboards of deploy/observability unchanged, from a package too", async () => {
    const { helm } = await helmAndKubectl();
    const [, packaged = ""] = /saved it to: (\S+)/.exec(await helm(["package", CHART, "--destination", dirname(CHART)])) ?? [];
    const text = await renderText(valuesOf("standard"), packaged);
    expect(text).toBe(await renderText(valuesOf("standard")));
    const objects = objectsOf(text);
    const rules = join(ROOT, "deploy/observability/rules");
    const expected = await Promise.all(
      (await readdir(rules)).map(async (name) => parse(await readFile(join(rules, name), "utf8")) as object),
    );
    expect(ofKind(objects, "PrometheusRule").map(({ spec }) => spec as object)).toEqual(expect.arrayContaining(expected));
    expect(ofKind(objects, "PrometheusRule")).toHaveLength(expected.length);
    const dashboards = join(ROOT, "deploy/observability/dashboards");
    for (const name of (await readdir(dashboards)).filter((path) => path.endsWith(".json"))) {
      const [text] = ofKind(objects, "ConfigMap").flatMap(({ data }) => (data as Record<string, string>)[`brand-records-${name}`] ?? []);
      expect(JSON.parse(text ?? "null")).toEqual(JSON.parse(await readFile(join(dashboards, name), "utf8")));
    }
  });

  it.each(["prometheusRule", "dashboards"])("refuses %s in a clone where npm run chart has copied nothing", async (name) => {
    const args = [...LAPTOP, "--set", `monitoring.${name}.enabled=true`];
    await expect(renderText(args, copyOfChart(name))).rejects.toThrow(
      new RegExp(`monitoring\\.${name}: this chart lacks .* Run npm run chart`),
    );
  });

  it("renders nothing as a dependency that is not enabled", async () => {
    expect(await render(["--set", "enabled=false"])).toEqual([]);
  });

  it("names in its notes what pods wait for: Secrets, and the authority", async () => {
    const { helm } = await helmAndKubectl();
    const notesWith = async (...args: string[]): Promise<string> =>
      (await helm(["install", RELEASE, CHART, "--dry-run=client", "--namespace", "records", ...LAPTOP, ...args])).split("\nNOTES:\n")[1] ??
      "";
    const notes = await notesWith();
    expect(notes).toContain("webhook: shop-brand-records-webhook (DATABASE_URL, RECEIVER_SECRET_KEYS), shop-brand-records-webhook-tls");
    expect(notes).not.toContain("authority");
    const [step6 = ""] = /^helm --namespace records test br .*?^\}$/ms.exec(readFileSync("docs/kubernetes.md", "utf8")) ?? [];
    const indented = step6.replaceAll(/\bbr\b/g, RELEASE).replaceAll(/^/gm, "  ");
    expect(notes).toContain(`Ask what is wrong. It ends within a minute or so:\n${indented}\n`);
    expect(await notesWith("--set", "extraCa.configMap=company")).toContain("wait for your authority, the ConfigMap company (ca.crt)");
    expect(await notesWith("--set", "extraCa.secret=company,extraCa.key=root.pem")).toContain("the Secret company (root.pem)");
  });

  it("gives helm test and doctor names with the addresses of every process, and callers others without the admin port", async () => {
    const objects = await render(valuesOf("standard"));
    const probed = JSON.stringify(objects.find(({ metadata }) => metadata.name === `${FULLNAME}-test`)).matchAll(
      /200=http:\/\/(shop-[\w-]+):9090/g,
    );
    const names = [...probed].map(([, name = ""]) => name);
    expect(names).toHaveLength(6);
    const services = new Map(ofKind(objects, "Service").map(({ metadata, spec }) => [metadata.name, spec]));
    const all = { clusterIP: "None", publishNotReadyAddresses: true };
    for (const name of names) expect([name, services.get(name)]).toMatchObject([name, all]);
    const operator = JSON.stringify(ofKind(objects, "Deployment").find(({ metadata }) => metadata.name === `${FULLNAME}-operator`));
    for (const name of names) expect(operator).toContain(`http://${name}:9090`);
    expect(services.get(`${FULLNAME}-gateway`)).toMatchObject({ ports: [{ name: "http" }] });
    expect(services.get(`${FULLNAME}-records`)).toMatchObject({ clusterIP: "None", ports: [{ name: "grpc" }] });
    expect(services.get(`${FULLNAME}-records`)).not.toHaveProperty("publishNotReadyAddresses");
  });

  it("leaves the number of replicas to an autoscaler", async () => {
    const replicas = ofKind(await render(valuesOf("large")), "Deployment").map(({ metadata, spec }) => [metadata.name, spec.replicas]);
    expect(replicas.filter(([, count]) => count !== undefined)).toEqual([["shop-brand-records-operator", 1]]);
  });

  it("keeps tags as texts, and prefers a digest", async () => {
    const imageOf = async (...args: string[]): Promise<string> =>
      ofKind(await render([...LAPTOP, ...args]), "Deployment")[0]?.["spec"].template.spec.containers[0].image as string;
    expect(await imageOf("--set-string", "image.tag=1.10")).toBe("brand-records:1.10");
    expect(await imageOf("--set", `image.digest=sha256:${"a".repeat(64)}`)).toBe(`brand-records@sha256:${"a".repeat(64)}`);
  });

  it.each([
    [0, 25],
    [1, 26],
    [5_000, 30],
    [60_000, 85],
  ])("gives a grace of %d ms a termination period of %d s", async (graceMs, seconds) => {
    const [gateway] = ofKind(await render([...LAPTOP, "--set", `stopGraceMs=${graceMs}`]), "Deployment");
    expect(gateway?.["spec"].template.spec.terminationGracePeriodSeconds).toBe(seconds);
  });

  it("migrates in ordinary Jobs at the first install, and before later ones in hooks", async () => {
    const jobs = async (...args: string[]): Promise<[name: string, annotations: object | undefined, ttlSeconds: unknown][]> =>
      ofKind(await render([...valuesOf("large"), ...args]), "Job").map(({ metadata, spec }) => [
        metadata.name,
        (metadata as { annotations?: object }).annotations,
        spec.ttlSecondsAfterFinished,
      ]);
    const services = ["accounts", "plans", "records", "webhook"];
    expect(await jobs()).toEqual(services.map((service) => [`${FULLNAME}-${service}-migration`, undefined, 86_400]));
    const hook = { "helm.sh/hook": "pre-upgrade", "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded" };
    // A rollback to the install makes its Jobs again, and fails where one of that name is left of an upgrade.
    expect(await jobs("--is-upgrade")).toEqual(services.map((service) => [`${FULLNAME}-${service}-upgrade`, hook, undefined]));
    const longest = await jobs("--is-upgrade", "--set", `fullnameOverride=${"x".repeat(100)}`);
    for (const [name] of longest) expect(name.length).toBeLessThanOrEqual(63);
  });
});

describe("additions of a platform team", () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render(["--values", ADDITIONS]);
  });
  const podsOf = (): [string, KubernetesObject][] =>
    objects.flatMap((object) => {
      const template = object.kind === "Pod" ? object : (object["spec"]?.template as KubernetesObject | undefined);
      return template?.["spec"] === undefined ? [] : [[`${object.kind} ${object.metadata.name.replace(`${FULLNAME}-`, "")}`, template]];
    });
  const named = (kind: string, name: string): KubernetesObject =>
    objects.find((object) => object.kind === kind && object.metadata.name === `${FULLNAME}-${name}`) as KubernetesObject;

  it("reach every pod: labels, volumes, environment, user, and the private authority in every process", () => {
    expect(podsOf().map(([name]) => name)).toEqual(expect.arrayContaining(["Job plans-migration", "Deployment operator", "Pod test"]));
    for (const [name, { metadata, spec }] of podsOf()) {
      expect([name, metadata.labels]).toEqual([name, expect.objectContaining({ team: "commerce", "cost-center": "42" })]);
      expect([name, spec.securityContext]).toEqual([name, { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } }]);
      expect([name, spec.priorityClassName, spec.nodeSelector]).toEqual([name, "platform", { "kubernetes.io/os": "linux" }]);
      if (name === "Pod test") continue;
      const [{ env, volumeMounts }] = spec.containers;
      expect([name, env]).toEqual([
        name,
        expect.arrayContaining([
          { name: "NODE_EXTRA_CA_CERTS", value: "/authorities/extra/ca.crt" },
          { name: "HTTPS_PROXY", valueFrom: { secretKeyRef: { name: "proxy", key: "url" } } },
        ]),
      ]);
      expect([name, volumeMounts]).toEqual([name, expect.arrayContaining([{ name: "scratch", mountPath: "/scratch" }])]);
      const authority = { name: "company-authority", items: [{ key: "bundle.pem", path: "ca.crt" }] };
      expect([name, spec.volumes]).toEqual([name, expect.arrayContaining([{ name: "extra-authority", configMap: authority }])]);
    }
  });

  it("add up for one process, and end where it has its own", () => {
    const { metadata, spec } = named("Deployment", "records")["spec"].template as KubernetesObject;
    expect(metadata.labels).toMatchObject({ team: "commerce", tier: "data", "app.kubernetes.io/component": "records" });
    expect(spec.tolerations).toEqual([
      { key: "dedicated", operator: "Exists" },
      { key: "data", operator: "Exists" },
    ]);
    expect(spec.topologySpreadConstraints).toMatchObject([
      { maxSkew: 2, labelSelector: { matchLabels: { "app.kubernetes.io/component": "records" } } },
    ]);
    const roles = ["records", "plans"].map((name) => (named("ServiceAccount", name).metadata as { annotations?: object }).annotations);
    expect(roles).toEqual([{ "example/role": "records" }, { "example/role": "all" }]);
    expect(named("Deployment", "plans").metadata).toMatchObject({
      annotations: { "example/reload": "true" },
      labels: { team: "commerce" },
    });
    expect(named("Service", "plans").metadata).toMatchObject({ annotations: { "example/service": "all" } });
  });

  it("give callers outside a Service without the admin port, and install other objects", () => {
    expect(named("Service", "gateway-external")["spec"]).toMatchObject({ type: "LoadBalancer", ports: [{ port: 80, targetPort: "http" }] });
    expect(named("Service", "gateway")["spec"].type).toBeUndefined();
    const notes = objects.find(({ metadata }) => metadata.name === "notes");
    expect(notes).toMatchObject({ kind: "ConfigMap", data: { url: "https://records.example" } });
    expect(objects.some(({ metadata }) => metadata.name === "shop-more")).toBe(true);
  });

  it.each([
    ["an environment that the chart sets", "records.extraEnv[0].name=LOG_LEVEL", /LOG_LEVEL of records is set by the chart/],
    ["an environment that is no name", "extraEnv[0].name=no-name", /extraEnv/],
    ["two authorities", "extraCa.secret=x", /extraCa: set configMap or secret/],
  ])("are refused: %s", async (_, value, message) => {
    await expect(renderText(["--values", ADDITIONS, "--set", value])).rejects.toThrow(message);
  });
});

describe("cells of records", () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render([...valuesOf("large"), ...CELLS]);
  });
  const named = (kind: string, name: string): KubernetesObject =>
    objects.find((object) => object.kind === kind && object.metadata.name === `${FULLNAME}-${name}`) as KubernetesObject;
  const environmentOf = (name: string): Map<string, string> =>
    new Map(
      (named("Deployment", name)["spec"].template.spec.containers[0].env as { name: string; value: string }[]).map((entry) => [
        entry.name,
        entry.value,
      ]),
    );

  it("have every object that records has, with the same program, settings and identity, under names of their own", () => {
    const objectsNamed = (name: string): string[] =>
      objects
        .filter(({ metadata }) => new RegExp(`^${FULLNAME}-${name}(-admin|-migration)?$`).test(metadata.name))
        .map((object) => JSON.stringify(object).replaceAll(name, "records"))
        .toSorted();
    expect(objectsNamed("records").length).toBeGreaterThan(9);
    expect(objectsNamed("records-b")).toEqual(objectsNamed("records"));
    expect(named("Certificate", "records-b")["spec"].uris).toEqual(["spiffe://cluster.local/ns/records/sa/records"]);
    expect(named("Deployment", "records-south")["spec"].replicas).toBe(0);
  });

  it("are named to the gateway, and to brandctl with their databases", () => {
    const targets = ["b", "south"].map((cell) => `${cell}=dns:///${FULLNAME}-records-${cell}:7000`).join(",");
    for (const name of ["gateway", "operator"]) expect(environmentOf(name).get("RECORDS_CELLS")).toBe(targets);
    expect(environmentOf("gateway").get("RECORDS_ADDRESS")).toBe(`dns:///${FULLNAME}-records:7000`);
    const admin = ["records", "records-b", "records-south"].map((name) => `http://${FULLNAME}-${name}-admin:9090`).join(",");
    expect(environmentOf("operator").get("RECORDS_ADMIN")).toBe(admin);
    expect(environmentOf("operator").get("RECORDS_CELL_DATABASES_FILE")).toBe("/secrets/RECORDS_CELL_DATABASES");
    expect(named("ExternalSecret", "operator")["spec"].data).toHaveLength(2);
    expect(environmentOf("console").has("RECORDS_CELLS")).toBe(false);
    expect(JSON.stringify(named("NetworkPolicy", "gateway")["spec"].egress)).toContain('"app.kubernetes.io/component":"records-b"');
    expect(named("NetworkPolicy", "operator")["spec"].egress).toContainEqual({ ports: [{ port: 5432 }] });
  });

  it("have metrics of the service records, with their name as a label", () => {
    const [endpoint] = ofKind(objects, "PodMonitor").map(({ spec }) => spec.podMetricsEndpoints[0] as { relabelings: object[] });
    expect(endpoint?.relabelings.slice(-2)).toMatchObject([
      { targetLabel: "service", sourceLabels: ["service"], replacement: "records" },
      { targetLabel: "cell", regex: "records-(.+)" },
    ]);
  });

  it("migrate by a Job for one run, too", async () => {
    const values = ["--set", "maintenance.program=migrate,maintenance.service=records-b"];
    const jobs = ofKind(await render([...valuesOf("large"), ...CELLS, ...values]), "Job");
    const job = jobs.find(({ metadata }) => metadata.name === `${FULLNAME}-migrate`);
    expect(job?.["spec"].template.spec).toMatchObject({
      serviceAccountName: `${FULLNAME}-records-b`,
      containers: [{ command: ["node", "--enable-source-maps", "services/records/dist/migrate.js"] }],
    });
  });
});

describe("maintenance", () => {
  it("stops a service, also one with an autoscaler", async () => {
    const objects = await render([...valuesOf("large"), "--set", "accounts.replicas=0,webhook.replicas=0"]);
    const replicas = ofKind(objects, "Deployment").flatMap(({ metadata, spec }) => (spec.replicas === 0 ? [metadata.name] : []));
    expect(replicas).toEqual([`${FULLNAME}-accounts`, `${FULLNAME}-webhook`]);
    const autoscalers = [...ofKind(objects, "HorizontalPodAutoscaler"), ...ofKind(objects, "ScaledObject")];
    expect(autoscalers.map(({ metadata }) => metadata.name.replace(`${FULLNAME}-`, ""))).toEqual([
      "console",
      "gateway",
      "plans",
      "records",
    ]);
  });

  it("migrates no schema of a service that is stopped: its database may be gone", async () => {
    for (const phase of [["--is-upgrade"], []]) {
      const objects = await render([...valuesOf("large"), "--set", "accounts.replicas=0", ...phase]);
      const migrated = ofKind(objects, "Job").map(({ spec }) => spec.template.spec.containers[0].command.at(-1) as string);
      expect(migrated).toEqual(["plans", "records", "webhook"].map((service) => `services/${service}/dist/migrate.js`));
    }
  });

  it.each([
    ["migrate", "records", "", ["DATABASE_URL_FILE", "MIGRATION_DATABASE_URL_FILE", "KAFKA_BROKERS"]],
    ["after-restore", "accounts", "accounts.replicas=0", ["KEY_PEPPERS_FILE", "REDIS_URL_FILE"]],
    ["after-restore", "webhook", "webhook.replicas=0", ["RECEIVER_SECRET_KEYS_FILE", "KAFKA_SASL_PASSWORD_FILE"]],
    ["re-encrypt", "webhook", "", ["RECEIVER_SECRET_KEYS_FILE"]],
  ])("%s of %s has the service's identity, login and networks, and gets no calls", async (program, service, stopped, settings) => {
    const values = [`maintenance.program=${program},maintenance.service=${service}`, stopped].filter(Boolean).join(",");
    const objects = await render([...valuesOf("large"), "--set", values]);
    const named = (kind: string, name: string): KubernetesObject =>
      objects.find((object) => object.kind === kind && object.metadata.name === `${FULLNAME}-${name}`) as KubernetesObject;
    const job = named("Job", program);
    const { serviceAccountName, securityContext, containers } = job["spec"].template.spec;
    const pod = named("Deployment", service)["spec"].template.spec;
    expect({ serviceAccountName, securityContext }).toEqual({
      serviceAccountName: `${FULLNAME}-${service}`,
      securityContext: pod.securityContext,
    });
    expect(containers[0].command).toEqual(["node", "--enable-source-maps", `services/${service}/dist/${program}.js`]);
    const names = (containers[0].env as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(settings));
    expect(names).not.toContain("MIGRATE_AT_START");
    // The job has the networks of its service, except for calls of other services.
    const databases = (named("NetworkPolicy", service)["spec"].egress as { ports: { port: number }[] }[]).filter(
      ({ ports }) => ![7000, 8081].includes(ports[0]?.port ?? 0),
    );
    expect(named("NetworkPolicy", program)["spec"].egress).toEqual(expect.arrayContaining(databases));
    const labels = job["spec"].template.metadata.labels as Record<string, string>;
    for (const { spec } of ofKind(objects, "Service")) {
      expect(Object.entries(spec.selector as Record<string, string>).every(([name, value]) => labels[name] === value)).toBe(false);
    }
  });

  it.each([
    ["a program without its service", "maintenance.program=migrate", /maintenance.service: migrate needs accounts or plans/],
    ["a restore beside its service", "maintenance.program=after-restore,maintenance.service=accounts", /set accounts.replicas=0 first/],
    ["an export without its volume", "maintenance.program=audit-export", /maintenance.claim/],
    ["an export without the operator", "maintenance.program=audit-export,maintenance.claim=x,operator.enabled=false", /operator.enabled/],
    ["an unknown program", "maintenance.program=vacuum", /program/],
  ])("refuses %s", async (_, values, message) => {
    await expect(renderText([...valuesOf("large"), "--set", values])).rejects.toThrow(message);
  });
});

describe("the package of a release", () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const digest = `sha256:${"b".repeat(64)}`;
  const packaged = async (...args: string[]): Promise<string> => {
    const { shell } = await helmAndKubectl();
    const destination = join(dirname(CHART), "package");
    await shell(["node deploy/helm/package.js --image registry.example/records --destination", destination, ...args].join(" "));
    return join(destination, `brand-records-${version}.tgz`);
  };

  it("has its version, image, rules and README, and installs them", async () => {
    const archive = await packaged("--release", version, "--digest", digest);
    const { helm } = await helmAndKubectl();
    const chart = parse(await helm(["show", "chart", archive])) as { annotations: Record<string, string> };
    expect(chart).toMatchObject({ version, appVersion: version });
    expect(parse(chart.annotations["artifacthub.io/images"] ?? "")).toEqual([
      { name: "brand-records", image: `registry.example/records@${digest}` },
    ]);
    expect((await helm(["show", "readme", archive])).trim()).toBe((await readFile(join(CHART, "README.md"), "utf8")).trim());
    const objects = objectsOf(await renderText(valuesOf("standard"), archive));
    expect(ofKind(objects, "PrometheusRule").length).toBeGreaterThan(0);
    const images = ofKind(objects, "Deployment").map(({ spec }) => spec.template.spec.containers[0].image as string);
    expect(new Set(images)).toEqual(new Set([`registry.example/records@${digest}`]));
  });

  it("refuses another version than package.json has", async () => {
    await expect(packaged("--release", "9.9.9")).rejects.toThrow(`--release is 9.9.9, but package.json has ${version}`);
  });
});

describe("values that are refused", () => {
  it.each<[string, readonly string[], RegExp]>([
    ["an unknown value", ["--set", "gatway.replicas=3"], /gatway/],
    ["an unknown value of a service", ["--set", "records.replica=3"], /replica/],
    ["no public URL", ["--set", "publicUrl="], /publicUrl: set the origin/],
    ["a public URL with a path", ["--set", "publicUrl=https://records.example/api"], /publicUrl/],
    ["a tag that is read as a number", ["--set", "image.tag=110"], /tag/],
    ["a digest that is cut off", ["--set", "image.digest=sha256:abc"], /digest/],
    ["an environment that is neither", ["--set", "environment=production"], /environment/],
    ["fewer than no replicas", ["--set", "gateway.replicas=-1"], /replicas/],
    ["a longer grace than processes allow", ["--set", "stopGraceMs=60001"], /stopGraceMs/],
    ["a broker without its port", ["--set", "kafka.brokers={kafka}"], /brokers/],
    ["a setting that is no text", ["--set", "settings.RATE_LIMIT_PLUS=60"], /RATE_LIMIT_PLUS/],
    [
      "one login of Kafka for two processes",
      ["--set", "kafka.brokers={kafka:9093},kafka.saslMechanism=plain,kafka.saslUsernames.records=records"],
      /kafka.saslUsernames: records and webhook are required/,
    ],
    ["a setting that does not exist", ["--set-string", "settings.LOG_LEVL=debug"], /LOG_LEVL/],
    ["a setting that the chart decides", ["--set-string", "records.settings.RPC_PORT=1"], /RPC_PORT of records is set by the chart/],
    ["a secret among the settings", ["--set-string", "accounts.settings.KEY_PEPPERS=1"], /KEY_PEPPERS of accounts is set by the chart/],
    ["no issuer", ["--set", "certificates.issuerRef.name="], /issuerRef.name: name an Issuer/],
    ["a provider without its client", ["--set", "oidc.issuer=https://id.example"], /oidc.clientId: is required/],
    [
      "fewer replicas at most than at least",
      ["--set", "gateway.autoscaling.enabled=true,gateway.autoscaling.minReplicas=20"],
      /maxReplicas/,
    ],
    [
      "an Ingress without the proxies before the gateway",
      ["--set", "ingress.enabled=true,ingress.host=records.example"],
      /trustProxy: set the proxies before the gateway, such as --set-string trustProxy=1/,
    ],
    [
      "an HTTPRoute without the proxies before the gateway",
      ["--set", "httpRoute.enabled=true,httpRoute.parentRefs[0].name=public"],
      /Without it every caller has the proxy's address/,
    ],
    [
      "an Ingress behind no proxies",
      ["--set", "ingress.enabled=true,ingress.host=records.example", "--set-string", "trustProxy=0"],
      /trustProxy: set/,
    ],
    ["a number of proxies among their addresses", ["--set-string", "trustProxy=1\\,10.0.0.0/8"], /trustProxy: 1 is no address/],
    ["a proxy's subnet that is none", ["--set-string", "trustProxy=10.0.0.0/33"], /trustProxy: 10.0.0.0\/33 is no/],
    ["a proxy's address that is none", ["--set-string", "trustProxy=300.1.1.1"], /trustProxy: 300.1.1.1 is no/],
    ["a word for a proxy", ["--set-string", "trustProxy=cafe"], /trustProxy: cafe is no/],
    [
      "a route's host that is not publicUrl's",
      [
        ...ROUTED,
        "--set",
        "httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,httpRoute.hostnames={records.example,other.example}",
      ],
      /httpRoute: other\.example is not the host of publicUrl, records\.example/,
    ],
    [
      "an Ingress's host that is not publicUrl's",
      [...ROUTED, "--set", "ingress.enabled=true,ingress.host=other.example"],
      /ingress: other\.example is not the host of publicUrl, records\.example/,
    ],
    ...["records.resources.limits.memory=127Mi", "records.resources.limits.memory=134217727", "plans.resources.limits.cpu=9m"].map(
      (limit) =>
        [
          `a limit below its request: ${limit}`,
          ["--set", limit],
          /(records|plans)\.resources: the limit of \S+, \S+, is below its request/,
        ] as [string, string[], RegExp],
    ),
    [
      "a request of a Job above its limit",
      ["--set", "maintenance.resources.requests.memory=1Gi"],
      /maintenance\.resources: the limit of memory, 512Mi/,
    ],
    ["a route to no Gateway", ["--set", "httpRoute.enabled=true"], /parentRefs: name your Gateway/],
    ["a broker at a port that no policy opens", ["--set", "kafka.brokers={kafka:9094}"], /networkPolicy\.kafka\.port=9094/],
    ["a collector at a port that no policy opens", ["--set", "tracing.endpoint=https://otel.example"], /networkPolicy\.otlp\.port=443/],
    [
      "a provider at a port that no policy opens",
      ["--set", "oidc.issuer=https://id.example:8443/realm,oidc.clientId=x"],
      /networkPolicy\.oidc\.port=8443/,
    ],
    ...["dns.example:53", "10.0.0.2:0", "10.0.0.2:70000", "10.0.0.256:53", "[fd00::2:53"].map(
      (server) =>
        [
          `a resolver that no policy can open: ${server}`,
          ["--set-json", `webhook.settings={"RECEIVER_DNS_SERVERS":"10.0.0.1:53,${server}"}`],
          /RECEIVER_DNS_SERVERS: \S+ is no address with a port/,
        ] as [string, string[], RegExp],
    ),
    ["a public URL without TLS outside of test", ["--set", "environment=live"], /publicUrl: must be https outside of environment test/],
    [
      "memory in a unit that Kubernetes lacks",
      ["--set", "records.resources.limits.memory=512MB"],
      /records.resources.limits.memory|pattern/,
    ],
    ["memory in thousandths of a byte", ["--set", "records.resources.limits.memory=512m"], /memory|pattern/],
    ["memory without its unit", ["--set", "operator.resources.limits.memory=512"], /memory|minimum/],
    ["CPU in a unit of memory", ["--set", "gateway.resources.requests.cpu=1Gi"], /cpu|pattern/],
    ["a setting of another process", ["--set-string", "gateway.settings.RETENTION_DAYS=7"], /RETENTION_DAYS/],
    [
      "a rate limit for the gateway alone",
      ["--set-string", "gateway.settings.RATE_LIMIT_PLUS=600"],
      /RATE_LIMIT_PLUS is 600 for the gateway and the default for the console/,
    ],
    [
      "rate limits that differ",
      ["--set-string", "settings.RATE_LIMIT_PRO=600,console.settings.RATE_LIMIT_PRO=500"],
      /RATE_LIMIT_PRO is 600 for the gateway and 500 for the console/,
    ],
    ["a cell with a name that the gateway refuses", ["--set", "records.cells.B.replicas=1"], /records.cells|propertyNames|pattern/],
    [
      "a cell whose name makes a Secret's name too long",
      ["--set", `records.cells.${"c".repeat(20)}.replicas=1,fullnameOverride=${"x".repeat(40)}`],
      /records\.cells: the names of c+ are too long/,
    ],
    [
      "more webhook processes than partitions",
      ["--set", "kafka.brokers={k:9092},kafka.partitions=2,webhook.replicas=3,postgres.maxConnections=200"],
      /at most 2 processes/,
    ],
  ])("%s", async (_, args, message) => {
    await expect(renderText([...LAPTOP, ...args])).rejects.toThrow(message);
  });
});

it.each(["1", "10.0.0.0/8, fd00::/8", "192.168.255.1,::1,::ffff:10.0.0.1/128"])(
  "an Ingress and an HTTPRoute are rendered with the proxies %s",
  async (proxies) => {
    const routes = "ingress.enabled=true,httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,httpRoute.hostnames={*.example}";
    const args = [...LAPTOP, ...ROUTED, "--set", routes, "--set-string", `trustProxy=${proxies.replaceAll(",", "\\,")}`];
    const objects = await render(args);
    expect(ofKind(objects, "HTTPRoute")).toHaveLength(1);
    expect(ofKind(objects, "Ingress")).toMatchObject([{ spec: { rules: [{ host: "records.example" }] } }]);
  },
);

it("the defaults are rendered with what has no default: a public URL and an Issuer", async () => {
  const objects = await render(["--set", "publicUrl=https://records.example,certificates.issuerRef.name=records"]);
  expect(ofKind(objects, "Deployment")).toHaveLength(7);
});

it("rate limits of both processes alike are rendered", async () => {
  const args = ["--set-string", "settings.RATE_LIMIT_PRO=500,gateway.settings.RATE_LIMIT_PLUS=70,console.settings.RATE_LIMIT_PLUS=70"];
  await expect(renderText([...LAPTOP, ...args])).resolves.toContain("RATE_LIMIT_PRO");
});

describe("the connections of Postgres", () => {
  // accounts 2 x 5, plans 2 x 5, records 2 x 10, webhook 2 x 11: each process, and one that a rollout adds.
  const NEEDED = 62;
  const withConnections = (count: number): string[] => [
    ...LAPTOP,
    "--set",
    `postgres.reservedConnections=10,postgres.maxConnections=${count}`,
  ];

  it("suffice exactly", async () => {
    await expect(renderText(withConnections(NEEDED + 10))).resolves.toContain("Deployment");
  });

  it("lack one: the message says what needs how many", async () => {
    await expect(renderText(withConnections(NEEDED + 9))).rejects.toThrow(
      /71 less 10 reserved are too few: the processes need up to 62 during a rollout \(accounts 2 processes x 5, .*webhook 2 processes x 11\)/,
    );
  });

  it("count the most that an autoscaler may start", async () => {
    const args = ["--set", "records.autoscaling.enabled=true,records.autoscaling.maxReplicas=100"];
    await expect(renderText([...LAPTOP, ...args])).rejects.toThrow(/records 101 processes x 10/);
  });

  it("count every process that a rollout may add", async () => {
    await expect(renderText([...LAPTOP, "--set", "records.maxSurge=100"])).rejects.toThrow(/records 101 processes x 10/);
  });

  it("are counted for each server: that of a cell, and of a service with one of its own", async () => {
    const own = [
      "--set",
      "accounts.postgres.maxConnections=15,accounts.postgres.reservedConnections=5,records.cells.b.postgres.maxConnections=30",
    ];
    await expect(renderText([...withConnections(NEEDED), ...own])).resolves.toContain("records-b");
    await expect(renderText([...withConnections(NEEDED - 1), ...own])).rejects.toThrow(/^.*postgres\.maxConnections: 61 .*up to 52 /m);
    const less = (value: string): string[] => [...withConnections(NEEDED), ...own, "--set", value];
    await expect(renderText(less("accounts.postgres.maxConnections=14"))).rejects.toThrow(
      /accounts\.postgres\.maxConnections: 14 less 5 .*up to 10 /,
    );
    await expect(renderText(less("records.cells.b.postgres.maxConnections=29"))).rejects.toThrow(
      /records\.cells\.b\.postgres\.maxConnections: 29 less 10 .*\(records-b 2 processes x 10\)/,
    );
  });
});
