import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { Random } from "@brand-records/demo-data";
import { RecordsServiceService } from "@brand-records/proto/records/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import {
  CertificateAuthority,
  createDatabase,
  eventually,
  startProcess,
  type ServiceProcess,
  type TestDatabase,
} from "@brand-records/testkit";
import { callContext } from "../../stack.ts";
import { scriptOf } from "../../program-script.ts";

const PARALLEL = 16;
const PREFIX = "spiffe://records.example/ns/live/sa/";
const OPEN_MS_MAX = 60;
/** Number that one client may keep besides the hostile ones. */
const SOCKETS_LEFT_MAX = 4;
/** Longer than the service's own time-outs. */
const CLOSE_MS_MAX = 60_000;

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** @see https://www.rfc-editor.org/rfc/rfc9113#section-4.1 */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const bytes = (random: Random, count: number): Buffer => Buffer.from(Array.from({ length: count }, () => random.below(256)));

/** HPACK literals without indexing. */
function headers(fields: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, "latin1")]);
  return Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

const CALL = {
  ":method": "POST",
  ":scheme": "https",
  ":path": "/records.v1.RecordsService/ListLinks",
  ":authority": "localhost",
  "content-type": "application/grpc",
  te: "trailers",
};

const opened = (...frames: Buffer[]): Buffer => Buffer.concat([PREFACE, frame(4, 0, 0, Buffer.alloc(0)), ...frames]);
const repeated = (count: number, make: (n: number) => Buffer): Buffer[] => Array.from({ length: count }, (_, n) => make(n));

/** What is sent once the connection is open. */
const NONSENSE: readonly ((random: Random) => Buffer)[] = [
  (random) => bytes(random, random.between(1, 5_000)),
  () => Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
  () => Buffer.from("POST /records.v1.RecordsService/ListLinks HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
  () => PREFACE.subarray(0, 10),
  (random) => Buffer.concat([PREFACE, bytes(random, random.between(1, 200))]),
  (random) => opened(frame(random.below(256), random.below(256), random.below(2 ** 31), bytes(random, random.below(100)))),
  (random) => opened(...repeated(50, () => frame(random.below(10), random.below(256), random.below(8), bytes(random, random.below(50))))),
  // A length that is announced and does not come.
  (random) => opened(frame(1, 4, 1, headers(CALL)), Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]), bytes(random, 100)),
  // Messages that are cut, compressed, too long, or no protobuf.
  (random) => opened(frame(1, 4, 1, headers(CALL)), frame(0, 1, 1, Buffer.concat([Buffer.from([0, 0, 0, 0, 50]), bytes(random, 10)]))),
  (random) => opened(frame(1, 4, 1, headers(CALL)), frame(0, 1, 1, Buffer.concat([Buffer.from([1, 0, 0, 0, 10]), bytes(random, 10)]))),
  (random) =>
    opened(frame(1, 4, 1, headers(CALL)), frame(0, 1, 1, Buffer.concat([Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), bytes(random, 10)]))),
  (random) => opened(frame(1, 4, 1, headers(CALL)), frame(0, 1, 1, Buffer.concat([Buffer.from([0, 0, 0, 0, 20]), bytes(random, 20)]))),
  // Calls that are reset at once, by the hundred.
  () =>
    opened(
      ...repeated(200, (n) => Buffer.concat([frame(1, 4, 2 * n + 1, headers(CALL)), frame(3, 0, 2 * n + 1, Buffer.from([0, 0, 0, 8]))])),
    ),
  () => opened(...repeated(500, () => frame(6, 0, 0, Buffer.alloc(8)))),
  () => opened(...repeated(500, () => frame(4, 0, 0, Buffer.alloc(6)))),
  () => opened(frame(1, 0, 1, headers(CALL)), ...repeated(300, (n) => frame(9, 0, 1, headers({ [`x-${n}`]: "y".repeat(100) })))),
  (random) =>
    opened(
      frame(
        1,
        5,
        1,
        headers({
          ...CALL,
          [random.pick([":path", ":method", "content-type", "grpc-timeout", "grpc-encoding", "x-request-id"])]: random.pick([
            "",
            "\u0000",
            "99999999999S",
            "/",
            "x".repeat(120),
          ]),
        }),
      ),
    ),
];

const ENDINGS = ["end", "destroy", "reset"] as const;

export interface RpcPortOptions {
  readonly connections: number;
}

/** One promise: whatever arrives at a service's gRPC port, with or without a good certificate, the process goes on and serves. */
export function describeRpcPort({ connections }: RpcPortOptions): void {
  const seed = Number(process.env["HOPS_SEED"] ?? 20_261_123);

  describe(`a gRPC port, HOPS_SEED=${seed}`, () => {
    let folder: string;
    let database: TestDatabase;
    let service: ServiceProcess;
    let client: RpcClient<RecordsServiceService>;
    let certificates: { key: Buffer; cert: Buffer; ca: Buffer };
    let port: number;
    let ended: string | undefined;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "rpc-port-"));
      const authority = new CertificateAuthority(folder);
      const own = authority.issue("records", { names: ["DNS:localhost", `URI:${PREFIX}records`] });
      const gateway = authority.issue("gateway", { names: [`URI:${PREFIX}gateway`] });
      certificates = { key: readFileSync(gateway.key), cert: readFileSync(gateway.cert), ca: readFileSync(gateway.ca) };
      database = await createDatabase("empty");
      const tls = { RPC_TLS_CERT: own.cert, RPC_TLS_KEY: own.key, RPC_TLS_CA: own.ca };
      service = await startProcess({
        name: "records",
        script: scriptOf("records"),
        env: { DATABASE_URL: database.url, STOP_GRACE_MS: "0", ...tls },
      });
      void service.exited.then((exit) => (ended = JSON.stringify(exit)));
      port = (service.ready as { rpc_port: number }).rpc_port;
      const config = { RPC_TLS_CERT: gateway.cert, RPC_TLS_KEY: gateway.key, RPC_TLS_CA: gateway.ca };
      client = connectRpc(RecordsServiceService, `localhost:${port}`, { config });
    });
    afterAll(async () => {
      client.stop();
      await service.kill();
      await database.drop();
      rmSync(folder, { recursive: true });
    });

    const list = () => client.listLinks({ brand_id: "brd_none", limit: 1, cursor: null, since: null }, callContext());
    const sockets = (): number => readdirSync(`/proc/${service.pid}/fd`).length;

    const attack = (random: Random): Promise<void> =>
      new Promise((resolve, reject) => {
        const isTls = random.chance(0.8);
        const nonsense = random.pick(NONSENSE)(random);
        const cut = random.chance(0.3) ? nonsense.subarray(0, random.below(nonsense.length + 1)) : nonsense;
        const ending = random.pick(ENDINGS);
        const openMs = random.chance(0.3) ? 0 : random.unit() * OPEN_MS_MAX;
        const raw = connectPlain(port, "127.0.0.1");
        const tls = {
          socket: raw,
          servername: "localhost",
          ALPNProtocols: [random.pick(["h2", "http/1.1"])],
          ca: certificates.ca,
          ...(random.chance(0.8) && certificates),
        };
        const socket: Socket = isTls ? connectTls(tls) : raw;
        const timer = setTimeout(() => reject(new Error("the connection is still open")), CLOSE_MS_MAX);
        socket.on("error", () => {});
        raw
          .on("error", () => {})
          .on("close", () => {
            clearTimeout(timer);
            resolve();
          });
        socket.resume().on(isTls ? "secureConnect" : "connect", () => {
          socket.write(cut);
          setTimeout(() => {
            if (ending === "end") socket.end();
            else if (ending === "reset") raw.resetAndDestroy();
            else socket.destroy();
          }, openMs);
        });
      });

    it(`serves during and after ${connections} hostile connections, and keeps none of them`, async () => {
      await list();
      const before = sockets();
      let next = 0;
      const attacker = async (): Promise<void> => {
        while (next < connections && ended === undefined) await attack(new Random(seed, next++));
      };
      const attacks = Promise.all(Array.from({ length: PARALLEL }, attacker));
      let isAttacked = true;
      void attacks.finally(() => (isAttacked = false)).catch(() => {});
      while (isAttacked && ended === undefined) expect(await list()).toMatchObject({ data: [] });
      await attacks;
      expect(ended).toBeUndefined();
      expect(await list()).toMatchObject({ data: [] });
      await eventually(() => expect(sockets()).toBeLessThanOrEqual(before + SOCKETS_LEFT_MAX));
    }, 600_000);
  });
}
