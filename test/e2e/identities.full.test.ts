import { randomBytes } from "node:crypto";
import { get as getOverHttp } from "node:http";
import { get as getOverTls } from "node:https";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as accounts from "@brand-records/proto/accounts/v1";
import * as plans from "@brand-records/proto/plans/v1";
import * as records from "@brand-records/proto/records/v1";
import * as webhook from "@brand-records/proto/webhook/v1";
import { freePort } from "@brand-records/postgres/embedded";
import { CALLERS } from "@brand-records/proto/methods";
import { actsForPerson, OWN_METHODS } from "@brand-records/rpc";
import {
  CertificateAuthority,
  createDatabase,
  eventually,
  startProcess,
  type ServiceProcess,
  type TestDatabase,
} from "@brand-records/testkit";
import { Client, credentials, Metadata, status, type ChannelCredentials, type MethodDefinition } from "@grpc/grpc-js";
import { logOf } from "../admin-port.ts";
import { scriptOf } from "../program-script.ts";

/** One promise: each gRPC method of the running services, and the console, serves exactly the identities that its proto names. */

const PREFIX = "spiffe://records.example/ns/live/sa/";
const LOCAL = ["DNS:localhost", "IP:127.0.0.1"];
const SERVED = { accounts, plans, records, webhook };
type ServiceName = keyof typeof SERVED;
type Method = Pick<MethodDefinition<unknown, unknown>, "path" | "requestStream" | "responseStream">;

/** What a caller presents, with the authority that it trusts. Without any it calls without TLS. */
interface Presented {
  readonly ca: Buffer;
  readonly key?: Buffer;
  readonly cert?: Buffer;
}

/** grpc.health.v1, which every service has. */
const HEALTH: Method[] = ["Check", "List", "Watch"].map((name) => ({
  path: `/grpc.health.v1.Health/${name}`,
  requestStream: false,
  responseStream: name === "Watch",
}));

let folder: string;
let database: TestDatabase;
let identities: Map<string, Presented | undefined>;
let ours: CertificateAuthority;
let running: Record<string, ServiceProcess> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "identities-"));
  ours = new CertificateAuthority(folder, "ours");
  identities = makeIdentities(ours, new CertificateAuthority(folder, "theirs"));
  database = await createDatabase("empty");
  const port = await freePort();
  const started = (Object.keys(SERVED) as ServiceName[]).map(async (name) => {
    const { cert, key, ca } = ours.issue(`${name}-server`, { names: [...LOCAL, `URI:${PREFIX}${name}`] });
    const env = {
      DATABASE_URL: database.url,
      ACCOUNTS_ADDRESS: `localhost:${port}`,
      KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}`,
      RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`,
      RPC_TLS_CERT: cert,
      RPC_TLS_KEY: key,
      RPC_TLS_CA: ca,
      RPC_PORT: name === "accounts" ? String(port) : "0",
      STOP_GRACE_MS: "0",
    };
    return [name, await startProcess({ name, script: scriptOf(name), env })] as const;
  });
  running = Object.fromEntries(await Promise.all(started));
});
afterAll(async () => {
  await Promise.all(Object.values(running).map((process) => process.kill()));
  await database?.drop();
  rmSync(folder, { recursive: true });
});

/** Every service's own identity, and what no caller must get anywhere with. */
function makeIdentities(authority: CertificateAuthority, theirs: CertificateAuthority): Map<string, Presented | undefined> {
  const ca = Buffer.from(authority.pem());
  const present = (signer: CertificateAuthority, name: string, names: string[]): Presented => {
    const { cert, key } = signer.issue(name.replaceAll(" ", "-"), { names });
    return { ca, key: readFileSync(key), cert: readFileSync(cert) };
  };
  return new Map([
    ...CALLERS.map((caller) => [caller, present(authority, caller, [`URI:${PREFIX}${caller}`])] as const),
    ["no certificate", { ca }],
    ["no TLS", undefined],
    ["another authority", present(theirs, "operator", [`URI:${PREFIX}operator`])],
    ["another trust domain", present(authority, "domain", ["URI:spiffe://other.example/ns/live/sa/operator"])],
    ["another namespace", present(authority, "namespace", ["URI:spiffe://records.example/ns/test/sa/operator"])],
    ["no SPIFFE id", present(authority, "shared", [...LOCAL, "DNS:operator"])],
    ["another service", present(authority, "service", [`URI:${PREFIX}billing`])],
  ]);
}

function credentialsOf(presented: Presented | undefined): ChannelCredentials {
  if (presented === undefined) return credentials.createInsecure();
  return credentials.createSsl(presented.ca, presented.key, presented.cert);
}

/** Every method that a service serves, by its path. */
function methodsOf(name: ServiceName): Method[] {
  const exported = Object.entries(SERVED[name] as object).filter(([exportName]) => exportName.endsWith("ServiceService"));
  return [...exported.flatMap(([, definition]) => Object.values(definition as object) as Method[]), ...HEALTH];
}

/** Calls with an empty request. @returns whether the call reached the method, whatever came of it; else how it was refused */
function outcomeOf(client: Client, { path, requestStream, responseStream }: Method): Promise<string> {
  const options = { deadline: Date.now() + 30_000 };
  const serialize = (): Buffer => Buffer.alloc(0);
  const call = requestStream
    ? client.makeBidiStreamRequest(path, serialize, String, new Metadata(), options)
    : client.makeServerStreamRequest(path, serialize, String, {}, new Metadata(), options);
  return new Promise((resolve) => {
    // A stream that stays open, as of Watch, has answered.
    call.on("data", () => {
      resolve("reached");
      if (responseStream) call.cancel();
    });
    call.on("error", () => {});
    call.on("status", ({ code, metadata }) => {
      if (metadata.get("error-kind").length > 0 || code === status.OK || code === status.NOT_FOUND) return resolve("reached");
      resolve(status[code]);
    });
    if (requestStream) (call as ReturnType<Client["makeBidiStreamRequest"]>).end();
  });
}

it("serves each method to the callers that its proto names, to the console without a grant only what is for no person, and to no other identity", async () => {
  const reached: Record<string, string[]> = {};
  const refusals: Record<string, Set<string>> = {};
  for (const name of Object.keys(SERVED) as ServiceName[]) {
    const address = `localhost:${(running[name]?.ready as { rpc_port: number } | undefined)?.rpc_port}`;
    for (const [identity, presented] of identities) {
      const client = new Client(address, credentialsOf(presented));
      const outcomes = await Promise.all(
        methodsOf(name).map(async (method) => [method.path.slice(1), await outcomeOf(client, method)] as const),
      );
      client.close();
      for (const [method, outcome] of outcomes) {
        if (outcome === "reached") (reached[method] ??= []).push(identity);
        else (refusals[identity] ??= new Set()).add(outcome);
      }
    }
  }
  const unique = Object.fromEntries(Object.entries(reached).map(([method, callers]) => [method, [...new Set(callers)]]));
  const names = Object.keys(SERVED) as ServiceName[];
  const named = names.flatMap(methodsOf).map(({ path }) => [path.slice(1), [...callersOf(path), "operator"]] as const);
  const sorted = (entries: Iterable<readonly [string, readonly string[]]>) =>
    Object.fromEntries([...entries].map(([method, callers]) => [method, callers.toSorted()]));
  expect(sorted(Object.entries(unique))).toEqual(sorted(named));
  // Those without a certificate of the authority do not get a connection; the others a refusal.
  const unconnected = new Set(["no certificate", "no TLS", "another authority"]);
  for (const [identity, outcomes] of Object.entries(refusals)) {
    expect([identity, [...outcomes]]).toEqual([identity, [unconnected.has(identity) ? "UNAVAILABLE" : "PERMISSION_DENIED"]]);
  }
});

/** The callers of a method that need no grant: the console needs one wherever it acts for people. */
function callersOf(path: string): readonly string[] {
  const { callers = [], actor = "caller" } = OWN_METHODS[path] ?? {};
  return actsForPerson({ actor }) ? callers.filter((caller) => caller !== "console") : callers;
}

/** @returns the status of the console's response, or why there is none */
function pageOf(port: number, presented: Presented | undefined): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { host: "localhost", port, path: "/sign-in", agent: false };
    const request = presented === undefined ? getOverHttp(options) : getOverTls({ ...options, ...presented });
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

it("serves the console's pages over TLS to the gateway, which forwards them, and to no other identity", async () => {
  const port = await freePort();
  const envOf = (name: string): Record<string, string> => {
    const { cert, key, ca } = ours.issue(`${name}-server`, { names: [...LOCAL, `URI:${PREFIX}${name}`] });
    const addresses = Object.entries(running).map(([service, { ready }]) => [
      `${service.toUpperCase()}_ADDRESS`,
      `localhost:${(ready as { rpc_port: number }).rpc_port}`,
    ]);
    const tls = { RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca };
    return { ...Object.fromEntries(addresses), ...tls, PUBLIC_URL: `http://localhost:${port}`, REDIS_URL: "", STOP_GRACE_MS: "0" };
  };
  const start = async (name: "gateway" | "console", env: Record<string, string>): Promise<number> => {
    running[name] = await startProcess({ name, script: scriptOf(name), env: { ...envOf(name), ...env } });
    return (running[name].ready as { port: number }).port;
  };
  const consolePort = await start("console", { PORT: "0" });
  const gateway = { HOST: "127.0.0.1", PORT: String(port), CONSOLE_ADDRESS: `localhost:${consolePort}` };
  await start("gateway", gateway);

  const page = await fetch(`http://localhost:${port}/sign-in`);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
  const outcomes = new Map<string, number | string>();
  for (const [identity, presented] of identities) outcomes.set(identity, await pageOf(consolePort, presented));
  const served = [...outcomes].filter(([, outcome]) => typeof outcome === "number");
  expect(served.map(([identity]) => identity)).toEqual(["gateway"]);
  // The others that get a connection, in their order. No request of theirs is begun.
  const lines = () => logOf(running["console"] as ServiceProcess);
  const strangers = [
    "spiffe://other.example/ns/live/sa/operator",
    "spiffe://records.example/ns/test/sa/operator",
    expect.any(String),
    "billing",
  ];
  const refused = () => lines().filter(({ msg }) => msg === "connection refused: its certificate is not the gateway's");
  const peers = [...CALLERS.filter((caller) => caller !== "gateway"), ...strangers];
  await eventually(() => expect(refused().map(({ peer }) => peer)).toEqual(peers));
  expect(lines().filter(({ msg }) => msg === "request served")).toHaveLength(2);
});
