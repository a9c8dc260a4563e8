import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CertificateAuthority, eventually, type IssuedCertificate } from "@brand-records/testkit";
import { Client, credentials, Metadata, Server, ServerCredentials } from "@grpc/grpc-js";
import { callContext, echoMethods, EchoService, own, serve, type Echo, type Message } from "../test/echo-service.ts";
import { Certificates } from "./certificates.ts";
import { connectRpc } from "./connect.ts";
import { peerOf, serverCheck, sessionOf, spiffeIdOf } from "./identity.ts";

const folder = mkdtempSync(join(tmpdir(), "identity-"));
const authority = new CertificateAuthority(folder);
const PREFIX = "spiffe://records.example/ns/live/sa/";
const LOCAL = ["DNS:localhost", "IP:127.0.0.1"];

const settingsOf = ({ cert, key, ca }: IssuedCertificate) => ({ RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca });
const certificateOf = (service: string, names = LOCAL) =>
  settingsOf(authority.issue(service, { names: [...names, `URI:${PREFIX}${service}`] }));

afterAll(() => rmSync(folder, { recursive: true }));

const connect = (echo: { readonly port: number }, config: Record<string, string>, host = "localhost") =>
  own(connectRpc(EchoService, `${host}:${echo.port}`, { config, methods: echoMethods() }));

/** The files of a process, which are replaced while it runs. */
function replaceable(name: string) {
  const path = (part: string): string => join(folder, `${name}-${part}.pem`);
  const config = { RPC_TLS_CERT: path("cert"), RPC_TLS_KEY: path("key"), RPC_TLS_CA: path("ca") };
  const install = ({ cert, key }: IssuedCertificate, ca = authority.pem()): void => {
    copyFileSync(cert, config.RPC_TLS_CERT);
    copyFileSync(key, config.RPC_TLS_KEY);
    writeFileSync(config.RPC_TLS_CA, ca);
  };
  return { config, install };
}

interface Pem {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

/** A server with any certificate, which `Certificates` would refuse. */
async function serveTls({ cert, key, ca }: Pem): Promise<{ readonly port: number; stop(): void }> {
  const server = new Server();
  const secure = ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true);
  const bind = (done: (error: Error | null, port: number) => void): void => server.bindAsync("127.0.0.1:0", secure, done);
  return { port: await promisify(bind)(), stop: () => server.forceShutdown() };
}

/** A client with any certificate. */
function callerWith({ cert, key, ca }: Pem, { port }: Echo): { say(): Promise<unknown>; stop(): void } {
  const client = new Client(`localhost:${port}`, credentials.createSsl(ca, key, cert));
  const { path, requestSerialize, responseDeserialize } = EchoService.say;
  const say = (done: (error: Error | null, message?: Message) => void): unknown =>
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, new Metadata(), {}, done);
  return { say: promisify(say), stop: () => client.close() };
}

it("serves a method to its callers and the operator; others are refused, logged and see an internal error", async () => {
  const echo = await serve({}, certificateOf("records"), { say: ["gateway"] });
  for (const caller of ["gateway", "operator"])
    expect(await connect(echo, certificateOf(caller)).say({ n: 1 }, callContext())).toEqual({ n: 1 });
  const refused = connect(echo, certificateOf("webhook"));
  await expect(refused.say({}, callContext({ requestId: "r1" }))).rejects.toMatchObject({
    kind: "internal_error",
    cause: { code: 7, details: "this certificate may not call /test.v1.EchoService/Say" },
  });
  expect(echo.lines.at(-1)).toMatchObject({
    level: 40,
    msg: "call refused",
    peer: "webhook",
    method: "/test.v1.EchoService/Say",
    request_id: "r1",
  });
  expect(await echo.metrics.metrics()).toMatch(/rpc_refused_calls_total\{.*peer="webhook".*\} 1/);
  const stream = refused.chat(callContext());
  await expect(new Promise((_, reject) => stream.once("error", reject))).rejects.toMatchObject({ code: 7 });
});

it.each([
  ["no id", LOCAL],
  ["a malformed id", [...LOCAL, "URI:spiffe://records.example/gateway"]],
  ["two ids", [...LOCAL, `URI:${PREFIX}records`, `URI:${PREFIX}gateway`]],
])("refuses a certificate with %s, of this process, of a server or of a caller", async (_, names) => {
  const config = settingsOf(authority.issue("unclear", { names }));
  expect(() => Certificates.of(config)).toThrow(
    expect.objectContaining({
      name: "ConfigError",
      problems: [expect.stringContaining("needs one id of the form spiffe://DOMAIN/ns/NAMESPACE/sa/SERVICE")],
    }),
  );
  const tls = { cert: readFileSync(config.RPC_TLS_CERT), key: readFileSync(config.RPC_TLS_KEY), ca: readFileSync(config.RPC_TLS_CA) };
  const server = own(await serveTls(tls));
  await expect(connect(server, certificateOf("gateway")).say({}, callContext())).rejects.toMatchObject({
    kind: "unavailable",
    cause: { details: expect.stringMatching(/the certificate of the server .*(has no SPIFFE id|not of)/) },
  });
  const echo = await serve({}, certificateOf("records"), { say: ["gateway"] });
  const client = own(callerWith(tls, echo));
  await expect(client.say()).rejects.toMatchObject({ code: 7, details: "this certificate may not call /test.v1.EchoService/Say" });
});

it.each([
  ["loses its id", LOCAL],
  ["has another id", [...LOCAL, `URI:${PREFIX}operator`]],
  ["has two ids", [...LOCAL, `URI:${PREFIX}records`, `URI:${PREFIX}gateway`]],
])("keeps the old certificate when its replacement %s, and goes on refusing others", async (_, names) => {
  const { config, install } = replaceable("renewed");
  install(authority.issue("renewed", { names: [...LOCAL, `URI:${PREFIX}records`] }));
  const watched = Certificates.of(config, 20) as Certificates;
  own({ stop: () => watched.release() });
  const echo = await serve({}, config, { say: ["gateway"] });
  const before = watched.current;
  install(authority.issue("renewed", { names }));
  await eventually(() => expect(watched.problem).toContain(`is not of ${PREFIX}records, as this process is until it ends`));
  expect(watched.current).toBe(before);
  expect(await connect(echo, certificateOf("gateway")).say({ n: 1 }, callContext())).toEqual({ n: 1 });
  await expect(connect(echo, certificateOf("webhook")).say({}, callContext())).rejects.toMatchObject({ kind: "internal_error" });
  install(authority.issue("renewed", { names: [...LOCAL, `URI:${PREFIX}records`] }));
  await eventually(() => expect([watched.problem, watched.current === before]).toEqual([undefined, false]));
});

it("reads a connection's certificate once", async () => {
  const sessions: (object | undefined)[] = [];
  const say = async (message: Message, { parent }: { parent?: object }): Promise<Message> => {
    sessions.push(sessionOf(parent ?? {}));
    return message;
  };
  const echo = await serve({ say }, certificateOf("records"), { say: ["gateway"] });
  const client = connect(echo, certificateOf("gateway"));
  for (let n = 0; n < 2; n += 1) await client.say({}, callContext());
  expect(sessions[0]).toEqual(expect.objectContaining({ socket: expect.anything() }));
  expect(sessions[1]).toBe(sessions[0]);
});

it("names both sides when a server's certificate has another name", async () => {
  const echo = await serve({}, certificateOf("records", ["DNS:records", "IP:127.0.0.9"]), { say: ["gateway"] });
  await expect(connect(echo, certificateOf("gateway"), "127.0.0.1").say({}, callContext())).rejects.toMatchObject({
    kind: "unavailable",
    cause: {
      details: expect.stringMatching(/the certificate of the server is for DNS:records, IP Address:127.0.0.9.*, not for 127\.0\.0\.1/),
    },
  });
});

it("checks that a server is the service called, of the same trust domain", () => {
  const certificates = Certificates.of(certificateOf("gateway")) as Certificates;
  own({ stop: () => certificates.release() });
  const check = serverCheck(certificates, "records");
  const messageOf = (subjectaltname: string) => check("records", { subjectaltname, subject: { CN: "x" } } as never)?.message;
  expect(messageOf(`DNS:records, URI:${PREFIX}records`)).toBeUndefined();
  expect(messageOf("DNS:records")).toBe("the certificate of the server (DNS:records) has no SPIFFE id");
  expect(messageOf(`DNS:records, URI:${PREFIX}webhook`)).toBe(
    `the certificate of the server is of ${PREFIX}webhook, not of ${PREFIX}records`,
  );
  expect(messageOf("DNS:records, URI:spiffe://other/ns/live/sa/records")).toContain("not of");
  expect(messageOf(`DNS:webhook, URI:${PREFIX}records`)).toBe(
    `the certificate of the server is for DNS:webhook, URI:${PREFIX}records, not for records`,
  );
});

it.each([
  ["DNS:x, URI:spiffe://a/ns/b/sa/gateway", { caller: "gateway" }],
  ["URI:spiffe://a/ns/c/sa/gateway", { stranger: "spiffe://a/ns/c/sa/gateway" }],
  ["URI:spiffe://a/ns/b/sa/x/gateway", { stranger: "spiffe://a/ns/b/sa/x/gateway" }],
  ["URI:spiffe://a/ns/b/sa/", { stranger: "spiffe://a/ns/b/sa/" }],
  ['DNS:"x, URI:spiffe://a/ns/b/sa/gateway"', { stranger: expect.stringContaining("without a SPIFFE id") }],
  ["URI:spiffe://a/ns/b/sa/gateway, URI:spiffe://a/ns/b/sa/records", { stranger: expect.stringContaining("without a SPIFFE id") }],
  [undefined, { stranger: expect.stringContaining("no names") }],
])("takes %s for %j", (names, peer) => {
  expect(peerOf(names, { prefix: "spiffe://a/ns/b/sa/", service: "records" })).toEqual(peer);
});

it("reads no id out of a quoted name", () => expect(spiffeIdOf('DNS:"a, URI:spiffe://a/ns/b/sa/gateway"')).toBeUndefined());

it("replaces leaf and authority on both sides in three steps, without a failed call or a restart", async () => {
  const next = new CertificateAuthority(folder, "next");
  const sides = ["records", "gateway"].map((service) => ({ service, ...replaceable(service) }));
  const install = (from: CertificateAuthority, cas: CertificateAuthority[]): void => {
    for (const side of sides) {
      const names = [...LOCAL, `URI:${PREFIX}${side.service}`];
      side.install(from.issue(side.service, { names }), cas.map((each) => each.pem()).join(""));
    }
  };
  install(authority, [authority]);
  const watched = sides.map(({ config }) => Certificates.of(config, 20) as Certificates);
  own({ stop: () => watched.forEach((each) => each.release()) });
  const [server, client] = sides as [(typeof sides)[0], (typeof sides)[0]];
  const echo = await serve({}, server.config, { say: ["gateway"] });
  const steps: [CertificateAuthority, CertificateAuthority[]][] = [
    [authority, [authority, next]],
    [next, [authority, next]],
    [next, [next]],
  ];
  const calls: string[] = [];
  const long = connect(echo, client.config);
  for (const [from, cas] of steps) {
    const before = watched.map(({ current }) => current);
    install(from, cas);
    await eventually(async () => {
      calls.push(await long.say({ n: 1 }, callContext()).then(() => "ok", String));
      watched.forEach(({ current }, side) => expect(current).not.toBe(before[side]));
    });
    // A connection of its own: it presents and meets the new files.
    expect(await connect(echo, client.config).say({ n: 2 }, callContext())).toEqual({ n: 2 });
  }
  expect(new Set(calls)).toEqual(new Set(["ok"]));
  await expect(connect(echo, certificateOf("gateway")).say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
});
