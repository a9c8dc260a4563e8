import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CertificateAuthority,
  createDatabase,
  eventually,
  makeOwnedFolder,
  startDnsServer,
  type DnsServer,
  type TestDatabase,
} from "@brand-records/testkit";
import { findCommands } from "../docs/find-commands.js";
import { issueCertificates } from "./issue-certificates.ts";
import { becomeReady, localizeAddresses, prepare, run, type LocalNetwork, type RunningPod, type StoredFiles } from "./local-pods.ts";
import { startTlsListener } from "./tls-listener.ts";
import { FULLNAME, render, valuesOf, type KubernetesObject } from "./rendered-chart.ts";

const ROOT = process.cwd();
const SERVICES = ["accounts", "console", "gateway", "plans", "records", "webhook"];
/** A network for this run: ports are those of the render, and other runs have the same. */
const SUBNET = `127.${1 + (process.pid % 254)}.${(process.pid >> 8) % 256}`;
const ADDRESSES = Object.fromEntries([...SERVICES, "operator"].map((name, index) => [name, `${SUBNET}.${index + 1}`]));
const START_MS_MAX = 240_000;
jest.setTimeout(START_MS_MAX);
/** As OpenShift gives a namespace: nothing may need the chart's own numbers. */
const ANY_USER = ["runAsUser=1000680000", "runAsGroup=null", "fsGroup=1000680000"].map((field) => `podSecurityContext.${field}`).join(",");
const key = (): string => `1:${randomBytes(32).toString("base64")}\n`;

let database: TestDatabase;
let folder: string;
let dns: DnsServer;
let network: LocalNetwork;
let objects: readonly KubernetesObject[];
const running = new Map<string, RunningPod>();

/** Returns the files of the standard installation's Secrets: what docs/kubernetes.md asks for, and what cert-manager would issue. */
const storedFiles = (certificates: StoredFiles): StoredFiles => {
  const DATABASE_URL = `${database.url}\n`;
  const REDIS_URL = `${process.env["TEST_REDIS_URL"]}\n`;
  return {
    ...certificates,
    [`${FULLNAME}-gateway`]: { REDIS_URL },
    [`${FULLNAME}-accounts`]: { DATABASE_URL, REDIS_URL, KEY_PEPPERS: key() },
    [`${FULLNAME}-records`]: { DATABASE_URL },
    [`${FULLNAME}-plans`]: { DATABASE_URL },
    [`${FULLNAME}-webhook`]: { DATABASE_URL, RECEIVER_SECRET_KEYS: key() },
  };
};

const podOf = (deployment: KubernetesObject): KubernetesObject => ({ kind: "Pod", ...deployment["spec"].template });
const componentOf = ({ metadata }: KubernetesObject): string => metadata.labels?.["app.kubernetes.io/component"] ?? "";

let kafkaValues: readonly string[];
let stored: StoredFiles;
const prepareLocally = async (pod: KubernetesObject): ReturnType<typeof prepare> =>
  prepare({ ...pod, metadata: { ...pod.metadata, name: componentOf(pod) } }, join(folder, componentOf(pod)), stored, network);

beforeAll(async () => {
  const topic = `test.${randomBytes(6).toString("hex")}`;
  const brokers = (process.env["TEST_KAFKA_BROKERS"] ?? "").split(",").map((broker, index) => `kafka.brokers[${index}]=${broker}`);
  const [firstBroker = ""] = (process.env["TEST_KAFKA_BROKERS"] ?? "").split(",");
  const port = firstBroker.slice(firstBroker.lastIndexOf(":") + 1);
  kafkaValues = [...brokers, `kafka.topic=${topic}`, "kafka.replicationFactor=1", `networkPolicy.kafka.port=${port}`];
  objects = await render([...valuesOf("standard"), "--set", [ANY_USER, ...kafkaValues].join(",")]);
  database = await createDatabase("empty");
  folder = await makeOwnedFolder("brand-records-pods-");
  await chmod(folder, 0o755);
  const known = new Map(Object.entries(ADDRESSES).map(([name, address]) => [`${FULLNAME}-${name}`, [address]]));
  dns = await startDnsServer((name, type) => (type === "A" ? (known.get(name) ?? []) : []));
  network = { addresses: ADDRESSES, dnsPort: dns.port };
  stored = storedFiles(
    await issueCertificates(
      objects.filter(({ kind }) => kind === "Certificate"),
      folder,
      ADDRESSES,
    ),
  );
});
afterAll(async () => {
  for (const pod of running.values()) await pod.stop();
  await dns?.stop();
  await database?.drop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const brandctl = (...args: string[]): Promise<string> => brandctlWith("", ...args);

/** Runs brandctl in the operator's pod, with a text as its standard input. @returns its stdout */
async function brandctlWith(input: string, ...args: string[]): Promise<string> {
  const operator = deployments().find((deployment) => componentOf(deployment) === "operator") as KubernetesObject;
  const { env } = await prepareLocally(podOf(operator));
  const program = [join(ROOT, "brandctl/bin/brandctl.js"), ...args];
  const running = promisify(execFile)(process.execPath, program, { env, timeout: 60_000 });
  // A command that reads nothing may have ended.
  running.child.stdin?.on("error", () => {}).end(input);
  return (await running).stdout.trim();
}

const deployments = (): KubernetesObject[] => objects.filter(({ kind }) => kind === "Deployment");

it("starts every process with its command, settings and volumes alone, under any user, and each becomes ready by its probes", async () => {
  const served = deployments().filter((deployment) => componentOf(deployment) !== "operator");
  expect(served.map(componentOf).toSorted()).toEqual(SERVICES);
  for (const deployment of served) running.set(componentOf(deployment), run(await prepareLocally(podOf(deployment)), ROOT));
  await Promise.all([...running.values()].map(becomeReady));
});

it("answers a request with a key that brandctl makes in the operator's pod", async () => {
  const created = await brandctl("brands", "create", "--name", "Tindahan ni Aling Nena", "--tier", "plus", "--verified");
  const brand = /brd_\w+/.exec(created)?.[0] ?? created;
  await brandctl("members", "add", "nena@example.ph", "--brand", brand, "--role", "owner");
  const secret = await brandctl("keys", "create", "--brand", brand, "--name", "Reporting");
  const response = await fetch(`http://${ADDRESSES["gateway"]}:8080/api/v1/campaigns`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ data: [] })]);
  await expect(brandctl("doctor").catch((error: { stdout: string }) => error.stdout)).resolves.not.toMatch(/^[✗!]/m);
});

it("imports records from standard input, and makes some up, with the documented commands", async () => {
  const brand = /brd_\w+/.exec(await brandctl("brands", "create", "--name", "Imported", "--tier", "plus", "--verified"))?.[0] ?? "";
  const documented = findCommands("docs/kubernetes.md").flatMap(
    (command) =>
      /^kubectl .* exec (?:--stdin )?deployment\/br-brand-records-operator -- brandctl (records .*?)(?: < links\.ndjson)?$/.exec(
        command,
      )?.[1] ?? [],
  );
  expect(documented.map((command) => command.split(" ")[1])).toEqual(["import", "generate"]);
  const links = await readFile("test/samples/links.ndjson", "utf8");
  const [imported, generated] = await Promise.all(
    documented.map((command) => brandctlWith(links, ...command.replace("brd_…", brand).split(" "))),
  );
  expect(imported).toMatch(new RegExp(`^Imported \\d+ links into ${brand}: \\d+ new`));
  expect(generated).toMatch(/^conversions +[1-9][\d,]* +0 +0$/m);
});

/** Runs what `helm test` runs. @returns its exit code and output */
async function helmTest(waitSeconds: number): Promise<{ readonly code: number; readonly stdout: string }> {
  const test = objects.find(({ metadata }) => metadata.name === `${FULLNAME}-test`) as KubernetesObject;
  const [, ...args] = test["spec"].containers[0].command as string[];
  const local = args.map((text) => (text === "45" ? String(waitSeconds) : localizeAddresses(text, "127.0.0.1", network)));
  return promisify(execFile)(process.execPath, local, { env: {}, timeout: START_MS_MAX }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

it("passes helm test", async () => {
  const { code, stdout } = await helmTest(60);
  expect(stdout.match(/^(200|401) .* at [\d.]+$/gm)).toHaveLength(SERVICES.length + 1);
  expect(code).toBe(0);
});

it("fails helm test and doctor with a wrong password of Redis and a wrong port of Kafka, which leave every process ready, and names both", async () => {
  const wrong = new URL(process.env["TEST_REDIS_URL"] ?? "");
  // With a name: a server without passwords takes any from the default user.
  Object.assign(wrong, { username: "gateway", password: "wrong" });
  stored = { ...stored, [`${FULLNAME}-gateway`]: { REDIS_URL: wrong.href } };
  for (const name of ["gateway", "records"]) {
    await running.get(name)?.stop();
    const pod = structuredClone(podOf(deployments().find((deployment) => componentOf(deployment) === name) as KubernetesObject));
    for (const setting of pod["spec"].containers[0].env) if (setting.name === "KAFKA_BROKERS") setting.value = "127.0.0.1:1";
    running.set(name, run(await prepareLocally(pod), ROOT));
  }
  await Promise.all([...running.values()].map(becomeReady));
  const { code, stdout } = await helmTest(1);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^200 http:\/\/[\d.]+:9090\/readyz at [\d.]+: degraded: it serves without its redis$/m);
  expect(stdout).toMatch(/: degraded: it serves without its event log$/m);
  expect(stdout.match(/: degraded: /g)).toHaveLength(2);
  const report = await brandctl("doctor", "--wait", "0").catch((error: { stdout: string }) => error.stdout);
  expect(report).toMatch(/^! gateway, ready +serves without its redis$/m);
  expect(report).toMatch(/^! records, ready +serves without its event log/m);
});

it("names a process whose database is away in helm test, and a password that is refused in the process' last three lines", async () => {
  const plans = deployments().find((deployment) => componentOf(deployment) === "plans") as KubernetesObject;
  const startWith = async (change: Partial<URL>): Promise<RunningPod> => {
    await running.get("plans")?.stop();
    stored = { ...stored, [`${FULLNAME}-plans`]: { DATABASE_URL: Object.assign(new URL(database.url), change).href } };
    const pod = run(await prepareLocally(podOf(plans)), ROOT);
    running.set("plans", pod);
    return pod;
  };
  await startWith({ port: "1" });
  await eventually(
    async () =>
      expect((await helmTest(0)).stdout).toMatch(/^503 http:\/\/[\d.]+:9090\/readyz at [\d.]+: waits for its process, postgres$/m),
    { timeoutMs: 60_000 },
  );
  const refused = await startWith({ password: "wrong" });
  expect(await refused.exited).toBe(78);
  const lastLines = refused.output().trim().split("\n").slice(-3).join("\n");
  expect(lastLines).toMatch(/^Invalid settings:\n {2}DATABASE_URL: password authentication failed/);
  await becomeReady(await startWith({}));
});

it("runs every Job of maintenance from what the chart renders: each ends with 0, and with 78 if its schema does not exist", async () => {
  const values = [...valuesOf("standard"), "--set", [ANY_USER, ...kafkaValues, "accounts.replicas=0,webhook.replicas=0"].join(",")];
  const restores = [
    ["re-encrypt", "webhook"],
    ["after-restore", "webhook", "--since", "2026-11-23T06:00:00Z"],
    ["after-restore", "accounts", "--without-audit"],
  ];
  const runJob = async (files: StoredFiles, [program = "", service = "", ...args]: string[]) => {
    const options = args.map((arg, index) => `,maintenance.args[${index}]=${arg}`).join("");
    const set = `maintenance.program=${program},maintenance.service=${service}${options}`;
    const isJob = ({ kind, metadata }: KubernetesObject): boolean => kind === "Job" && metadata.name === `${FULLNAME}-${program}`;
    const job = (await render([...values, "--set", set])).find(isJob) as KubernetesObject;
    const ran = run(await prepare(podOf(job), join(folder, `${program}-${service}`), files, network), ROOT);
    const [{ onExitCodes }] = job["spec"].podFailurePolicy.rules;
    return { job: [program, service], code: await ran.exited, output: ran.output(), notTriedAgain: onExitCodes.values as number[] };
  };
  const end = async (name: string): Promise<void> => {
    await running.get(name)?.stop();
    running.delete(name);
  };
  await end("webhook");
  for (const job of [["migrate", "plans"], ["migrate", "records"], ...restores]) {
    // The restore of webhook asks accounts.
    if (job[1] === "accounts") await end("accounts");
    expect(await runJob(stored, job)).toMatchObject({ job: job.slice(0, 2), code: 0 });
  }
  // Those but migrate, which makes it, need the schema: another try would end in the same way.
  const empty = await createDatabase("empty");
  const files = Object.fromEntries(
    Object.entries(stored).map(([name, file]) => [name, "DATABASE_URL" in file ? { ...file, DATABASE_URL: empty.url } : file]),
  );
  for (const job of restores) {
    const { code, output, notTriedAgain } = await runJob(files, job);
    expect([code, output]).toEqual([78, expect.stringContaining(`DATABASE_URL: the database has no schema ${job[1]}`)]);
    expect(notTriedAgain).toContain(code);
  }
  await empty.drop();
});

it("makes Postgres, Redis and Kafka trusted by the authority of extraCa, and by nothing else", async () => {
  const authority = new CertificateAuthority(folder, "company");
  const servers = await Promise.all(["postgres", "redis", "kafka"].map((name) => startTlsListener(authority, name)));
  const [postgres, redis, kafka] = servers.map(({ port }) => port);
  const certificates = { ...stored, "company-authority": { "bundle.pem": authority.pem() } };
  const values = [`kafka.brokers[0]=localhost:${kafka},networkPolicy.kafka.port=${kafka},kafka.tls=true`, ANY_USER];
  const extraCa = "extraCa.configMap=company-authority,extraCa.key=bundle.pem";
  const urls: StoredFiles = {
    [`${FULLNAME}-plans`]: { DATABASE_URL: `postgres://plans:x@localhost:${postgres}/x?sslmode=verify-full` },
    [`${FULLNAME}-gateway`]: { REDIS_URL: `rediss://localhost:${redis}` },
  };
  const start = async (...args: string[]): Promise<RunningPod[]> => {
    const rendered = (await render([...valuesOf("standard"), "--set", [...values, ...args].join(",")])).filter(
      ({ kind }) => kind === "Deployment",
    );
    const names = ["plans", "gateway", "records"];
    return Promise.all(
      names.map(async (name) => {
        await running.get(name)?.stop();
        running.delete(name);
        const pod = podOf(rendered.find((deployment) => componentOf(deployment) === name) as KubernetesObject);
        const place = join(folder, `${args.length}-${name}`);
        return run(await prepare({ ...pod, metadata: { ...pod.metadata, name } }, place, { ...certificates, ...urls }, network), ROOT);
      }),
    );
  };
  try {
    const distrusting = await start();
    await eventually(() => expect(servers.map(({ handshakes }) => handshakes() > 0)).toEqual([true, true, true]), { timeoutMs: 60_000 });
    expect(servers.map(({ bytes }) => bytes())).toEqual([0, 0, 0]);
    for (const pod of distrusting) await pod.stop();
    const trusting = await start(extraCa);
    await eventually(() => expect(servers.map(({ bytes }) => bytes() > 0)).toEqual([true, true, true]), { timeoutMs: 60_000 });
    for (const pod of trusting) await pod.stop();
  } finally {
    for (const server of servers) await server.stop();
  }
});

it("stops every process within its termination period", async () => {
  const stopped = await Promise.all(
    [...running].map(async ([name, pod]) => {
      const code = await pod.stop();
      running.delete(name);
      return [name, code] as const;
    }),
  );
  expect(stopped).toEqual(stopped.map(([name]) => [name, 0]));
});
