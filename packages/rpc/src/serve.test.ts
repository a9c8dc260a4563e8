import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@brand-records/config";
import { CertificateAuthority, eventually } from "@brand-records/testkit";
import { Client, credentials, type MethodDefinition } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { callContext, EchoService, own, serve, serveEcho, type Echo, type Message } from "../test/echo-service.ts";
import { connectRpc } from "./connect.ts";

describe("stop", () => {
  it("finishes running calls, and refuses new ones", async () => {
    let open = (): void => {};
    const opens = new Promise<void>((resolve) => void (open = resolve));
    let running = 0;
    const say = async (message: Message): Promise<Message> => {
      running += 1;
      await opens;
      return message;
    };
    const echo = await serveEcho({ say });
    const client = own(connectRpc(EchoService, echo.address));
    const call = client.say({ n: 1 }, callContext());
    const stream = client.chat(callContext());
    stream.write({ n: 2 });
    await once(stream, "data");
    await eventually(() => expect(running).toBe(1));
    const stopped = echo.stop();
    await eventually(() => expect(client.saySafely({}, callContext())).rejects.toMatchObject({ kind: "unavailable" }));
    stream.write({ n: 3 });
    expect(await once(stream, "data")).toEqual([{ n: 3 }]);
    stream.end();
    open();
    expect(await call).toEqual({ n: 1 });
    await stopped;
  });
});

describe("listening", () => {
  it.each(["0.0.0.0", "::", "192.0.2.1"])("at %s, reachable from other hosts, is refused without TLS", async (RPC_HOST) => {
    await expect(serve({}, { RPC_HOST })).rejects.toThrow(ConfigError);
    await expect(serve({}, { RPC_HOST })).rejects.toThrow(`RPC_HOST: ${RPC_HOST} is reachable from other hosts and needs RPC_TLS_CERT`);
  });

  it("with only a part of the TLS settings is refused", async () => {
    await expect(serve({}, { RPC_TLS_CA: "/nowhere/ca.pem" })).rejects.toThrow("set all three or none");
    expect(() => connectRpc(EchoService, "localhost:1", { config: { RPC_TLS_CERT: "/nowhere/cert.pem" } })).toThrow(
      "set all three or none",
    );
  });

  it.each(["records:7000", "dns:///records:7000", "ipv4:127.0.0.1:1,10.0.0.1:1", "10.0.0.1:7000", "[2001:db8::1]:7000"])(
    "at %s, on another host, is not called without TLS",
    (address) => {
      expect(() => connectRpc(EchoService, address)).toThrow("is reachable from other hosts and needs RPC_TLS_CERT");
    },
  );

  it.each(["localhost:1", "127.0.0.2:1", "ipv4:127.0.0.1:1,127.0.0.1:2", "[::1]:1", "dns:///localhost:1", "unix:/tmp/x"])(
    "at %s, on this host, may be called without TLS",
    (address) => {
      own(connectRpc(EchoService, address));
    },
  );

  it("at a port in use is refused", async () => {
    const { port } = await serve();
    await expect(serve({}, { RPC_PORT: port })).rejects.toThrow("EADDRINUSE");
  });
});

it.each(["", "test.v1.EchoService"])("responds to the health check for %j with SERVING", async (name) => {
  const { address } = await serve();
  const client = new Client(address, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = healthService["Check"] as MethodDefinition<object, object>;
  const response = await new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: name }, (error, response) =>
      error === null ? resolve(response) : reject(error),
    );
  });
  expect(response).toMatchObject({ status: "SERVING" });
  client.close();
});

it("writes no value of metadata that it cannot read", async () => {
  const written = jest.spyOn(console, "error").mockImplementation(() => {});
  const { address } = await serve();
  const session = connectHttp2(`http://${address}`);
  const headers = { ":method": "POST", ":path": EchoService.say.path, "content-type": "application/grpc", te: "trailers" };
  const call = session.request({ ...headers, "x-grant": "grant-of-ñora" });
  const message = Buffer.from(JSON.stringify({ n: 1 }));
  call.end(Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]));
  call.resume();
  await once(call, "close");
  session.close();
  expect(JSON.stringify(written.mock.calls)).not.toContain("grant-of");
  written.mockRestore();
});

describe("mutual TLS", () => {
  let folder: string;
  let authorities: Record<string, CertificateAuthority>;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "rpc-tls-"));
    authorities = Object.fromEntries(["ours", "theirs"].map((name) => [name, new CertificateAuthority(folder, name)]));
    for (const authority of Object.values(authorities)) {
      authority.issue("service", { names: ["DNS:localhost", "IP:127.0.0.1", "URI:spiffe://test/ns/here/sa/operator"] });
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const settings = (authority: string, trusted = authority) => ({
    RPC_TLS_CERT: join(folder, authority, "service.pem"),
    RPC_TLS_KEY: join(folder, authority, "service.key"),
    RPC_TLS_CA: authorities[trusted]?.ca ?? "",
  });
  const connect = (echo: Echo, config?: ReturnType<typeof settings>) =>
    own(connectRpc(EchoService, `localhost:${echo.port}`, { ...(config !== undefined && { config }) }));

  it("accepts a client signed by our authority, even on an address other than loopback", async () => {
    const echo = await serve({}, { RPC_HOST: "0.0.0.0", ...settings("ours") });
    expect(await connect(echo, settings("ours")).say({ n: 1 }, callContext())).toEqual({ n: 1 });
  });

  it("refuses a client without a certificate, and one signed by another authority", async () => {
    let served = 0;
    const say = async (message: Message): Promise<Message> => {
      served += 1;
      return message;
    };
    const echo = await serve({ say }, settings("ours"));
    const withoutCertificate = new Client(`localhost:${echo.port}`, credentials.createSsl(Buffer.from(authorities["ours"]?.pem() ?? "")));
    const { path, requestSerialize, responseDeserialize } = EchoService.say;
    const refused = new Promise((resolve) => {
      withoutCertificate.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, (error) => resolve(error));
    });
    expect(await refused).toMatchObject({ code: 14 });
    withoutCertificate.close();
    await expect(connect(echo, settings("theirs", "ours")).say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
    await expect(connect(echo).say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
    expect(served).toBe(0);
  });

  it("bounds the handshakes under way: the first ends, a caller's goes on, and a stop waits for none", async () => {
    const echo = await serveEcho({}, settings("ours"));
    const silent = Array.from({ length: 400 }, () => connectTcp(echo.port, "127.0.0.1").on("error", () => {}));
    const open = () => silent.filter(({ closed }) => !closed).length;
    await Promise.all(silent.map((socket) => once(socket, "connect")));
    await eventually(() => expect(open()).toBeLessThanOrEqual(256));
    const client = connect(echo, settings("ours"));
    expect(await client.say({ n: 1 }, callContext())).toEqual({ n: 1 });
    client.stop();
    const stopped = echo.stop();
    await eventually(() => expect(open()).toBe(0));
    await stopped;
    expect(echo.lines.map(({ msg }) => msg)).not.toContain("drain timed out, running calls cancelled");
  });

  it("a client refuses a server not signed by our authority", async () => {
    const echo = await serve({}, settings("theirs", "ours"));
    await expect(connect(echo, settings("ours")).say({}, callContext())).rejects.toMatchObject({ kind: "unavailable" });
  });
});
