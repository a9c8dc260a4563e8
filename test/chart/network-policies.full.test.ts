import { isAllowed, type Connection, type Endpoint } from "./network-rules.ts";
import { render, RELEASE, valuesOf, type KubernetesObject } from "./rendered-chart.ts";

const pod = (component: string): Endpoint => ({
  namespace: "records",
  labels: {
    "app.kubernetes.io/name": "brand-records",
    "app.kubernetes.io/instance": RELEASE,
    "app.kubernetes.io/component": component,
  },
});
const PODS: Readonly<Record<string, Endpoint>> = {
  ...Object.fromEntries(
    ["gateway", "console", "accounts", "records", "plans", "webhook", "operator", "test", "migration"].map((name) => [name, pod(name)]),
  ),
  prometheus: { namespace: "monitoring", labels: { app: "prometheus" } },
  ingress: { namespace: "gateways", labels: { app: "ingress" } },
  stranger: { namespace: "records", labels: { app: "stranger" } },
  "another namespace": { namespace: "shop", labels: pod("gateway").labels ?? {} },
  "cluster DNS": { namespace: "kube-system", labels: { "k8s-app": "kube-dns" } },
  "OpenShift's DNS": { namespace: "openshift-dns", labels: { "dns.operator.openshift.io/daemonset-dns": "default" } },
  postgres: { address: "10.0.8.4" },
  receiver: { address: "203.0.113.7" },
  "receiver on IPv6": { address: "2001:4860:4860::8888" },
  "private address": { address: "192.168.1.1" },
  "metadata of the cloud": { address: "169.254.169.254" },
  "private address on IPv6": { address: "fd00::1" },
};
const SERVICES = ["gateway", "console", "accounts", "records", "plans", "webhook"];

/** Who may call whom over gRPC (7000) and http (8080, 8081), in the large installation. All else between pods is refused. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  gateway: ["accounts:7000", "records:7000", "plans:7000", "console:8081"],
  console: ["accounts:7000", "plans:7000", "webhook:7000"],
  accounts: [],
  records: [],
  plans: ["accounts:7000"],
  webhook: ["accounts:7000"],
  operator: ["accounts:7000", "records:7000", "plans:7000", "webhook:7000", "gateway:8080"],
  test: ["gateway:8080"],
  migration: [],
  prometheus: [],
  ingress: ["gateway:8080"],
  stranger: [],
  "another namespace": [],
};
const PORTS = ["gateway:8080", "console:8081", "accounts:7000", "records:7000", "plans:7000", "webhook:7000"];
const METRICS = SERVICES.map((name) => `${name}:9090`);
const MAY_READ_METRICS = new Set(["operator", "test", "prometheus"]);

/** Connections out of the release: allowed or not. */
const OUT: readonly (readonly [from: string, to: string, port: number, allowed: boolean])[] = [
  ...["accounts", "records", "plans", "webhook", "migration"].map((from) => [from, "postgres", 5432, true] as const),
  ...["gateway", "console", "operator", "test"].map((from) => [from, "postgres", 5432, false] as const),
  ...["gateway", "accounts"].map((from) => [from, "postgres", 6379, true] as const),
  ...["console", "records", "plans", "webhook"].map((from) => [from, "postgres", 6379, false] as const),
  ...["records", "webhook"].map((from) => [from, "postgres", 9093, true] as const),
  ...["gateway", "console", "accounts", "plans"].map((from) => [from, "postgres", 9093, false] as const),
  ...["receiver", "receiver on IPv6"].map((to) => ["webhook", to, 443, true] as const),
  ["webhook", "receiver", 80, false],
  ["webhook", "receiver", 22, false],
  ...["private address", "private address on IPv6", "metadata of the cloud"].map((to) => ["webhook", to, 443, false] as const),
  ...SERVICES.filter((name) => name !== "webhook").map((from) => [from, "receiver", 443, false] as const),
  ["operator", "receiver", 443, false],
];

let large: readonly KubernetesObject[];
beforeAll(async () => {
  large = await render(valuesOf("large"));
}, 300_000);

const connection = (from: string, to: string, port: number, protocol?: "UDP"): Connection => {
  const [source, target] = [PODS[from], PODS[to]];
  if (source === undefined || target === undefined) throw new Error(`${from} or ${to} is not in PODS`);
  return { from: source, to: target, port, ...(protocol && { protocol }) };
};

it.each(Object.entries(CALLS))("%s calls nothing in the release but %j", (from, expected) => {
  const allowed = [...PORTS, ...METRICS].filter((target) => {
    const [to = "", port] = target.split(":");
    return isAllowed(large, connection(from, to, Number(port)));
  });
  expect(allowed).toEqual([...PORTS.filter((target) => expected.includes(target)), ...(MAY_READ_METRICS.has(from) ? METRICS : [])]);
});

it.each(OUT)("%s to %s at port %d is allowed: %s", (from, to, port, allowed) => {
  expect(isAllowed(large, connection(from, to, port))).toBe(allowed);
});

it("lets every pod ask the cluster's DNS, over UDP and TCP, and no other DNS", () => {
  for (const from of [...SERVICES, "operator", "test", "migration"]) {
    expect([
      from,
      isAllowed(large, connection(from, "cluster DNS", 53)),
      isAllowed(large, connection(from, "cluster DNS", 53, "UDP")),
    ]).toEqual([from, true, true]);
    expect(isAllowed(large, connection(from, "receiver", 53, "UDP"))).toBe(false);
  }
});

it("lets every pod ask DNS at the ports that its pods listen on, such as OpenShift's", async () => {
  const openshift = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "openshift-dns" } } }];
  const objects = await render([
    ...valuesOf("large"),
    "--set",
    "networkPolicy.dnsPorts={5353}",
    "--set-json",
    `networkPolicy.dns=${JSON.stringify(openshift)}`,
  ]);
  for (const protocol of [undefined, "UDP"] as const) {
    expect(isAllowed(objects, connection("gateway", "OpenShift's DNS", 5353, protocol))).toBe(true);
    expect(isAllowed(objects, connection("gateway", "OpenShift's DNS", 53, protocol))).toBe(false);
    expect(isAllowed(large, connection("gateway", "OpenShift's DNS", 5353, protocol))).toBe(false);
  }
});

it("lets records call webhook only without Kafka, and no process reach a Redis or a Kafka that is not set", async () => {
  const laptop = await render(valuesOf("laptop"));
  expect(isAllowed(laptop, connection("records", "webhook", 7000))).toBe(true);
  expect(isAllowed(large, connection("records", "webhook", 7000))).toBe(false);
  for (const from of SERVICES) for (const port of [6379, 9093]) expect(isAllowed(laptop, connection(from, "postgres", port))).toBe(false);
});

it("sends deliveries only to the egress proxy if there is one", async () => {
  const proxied = await render([...valuesOf("large"), "--set", "egressProxy.enabled=true"]);
  expect(isAllowed(proxied, connection("webhook", "receiver", 443))).toBe(false);
  expect(isAllowed(proxied, connection("webhook", "postgres", 3128))).toBe(true);
});

it("lets console and accounts reach the OpenID provider only if there is one, and nothing else", async () => {
  const withProvider = await render([...valuesOf("large"), "--set", "oidc.issuer=https://id.example,oidc.clientId=x"]);
  for (const from of ["console", "accounts"]) {
    expect([from, isAllowed(withProvider, connection(from, "receiver", 443))]).toEqual([from, true]);
    expect([from, isAllowed(withProvider, connection(from, "metadata of the cloud", 443))]).toEqual([from, false]);
    expect([from, isAllowed(large, connection(from, "receiver", 443))]).toEqual([from, false]);
  }
});

it("lets accounts alone reach the mail server, if there is one", async () => {
  const withMail = await render([...valuesOf("large"), "--set", "mail.from=no-reply@records.example"]);
  for (const from of SERVICES) expect([from, isAllowed(withMail, connection(from, "receiver", 587))]).toEqual([from, from === "accounts"]);
  expect(isAllowed(large, connection("accounts", "receiver", 587))).toBe(false);
});

it.each(["webhook.settings", "settings"])(
  "webhook reaches the resolvers of RECEIVER_DNS_SERVERS in %s, over UDP and TCP, and no other process does",
  async (place) => {
    const servers = "10.9.0.2:5353,[fd00::53]:5354,10.9.0.3,fd00::54";
    const objects = await render([...valuesOf("large"), "--set-json", `${place}={"RECEIVER_DNS_SERVERS":"${servers}"}`]);
    const open = [
      ["10.9.0.2", 5353],
      ["fd00::53", 5354],
      ["10.9.0.3", 53],
      ["fd00::54", 53],
    ] as const;
    for (const protocol of ["UDP", "TCP"] as const) {
      for (const [address, port] of open) {
        const reach = (from: string, to: number) => isAllowed(objects, { from: pod(from), to: { address }, port: to, protocol });
        expect([address, reach("webhook", port), reach("webhook", 5432 + 1), reach("records", port)]).toEqual([
          address,
          true,
          false,
          false,
        ]);
      }
    }
  },
);
