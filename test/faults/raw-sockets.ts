import { connect, type Socket } from "node:net";
import { Random } from "@brand-records/demo-data";
import { eventually } from "@brand-records/testkit";
import { startClients } from "../clients-in-turn.ts";
import { seedBrand } from "../seed-brand.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

const PARALLEL = 25;
const OPEN_MS_MAX = 40;
/** The server must end a half-closed connection; this is longer than each of its timeouts. */
const CLOSE_MS_MAX = 150_000;

interface Shape {
  readonly name: string;
  readonly pieces: readonly string[];
  /** The client never reads. */
  readonly unread?: boolean;
}

const times = (count: number, text: string): string => text.repeat(count);

/** What a client may send, completely or in part. */
function shapes(key: string): Shape[] {
  const authorised = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  const page = `GET /api/v1/submissions?limit=50 HTTP/1.1\r\n${authorised}\r\n`;
  const post = `POST /api/mcp HTTP/1.1\r\n${authorised}Content-Type: application/json\r\n`;
  const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
  const tunnel = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n";
  const upgrade = (protocol: string) => `GET /api/v1/links HTTP/1.1\r\n${authorised}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
  return [
    { name: "no bytes", pieces: [] },
    { name: "CONNECT", pieces: [tunnel] },
    { name: "CONNECT with bytes for the tunnel", pieces: [tunnel, times(10_000, "tunnel")] },
    { name: "CONNECT after requests", pieces: [times(3, page) + tunnel] },
    { name: "an upgrade to WebSocket", pieces: [upgrade("websocket"), "\u0081\u0005hello"] },
    { name: "an upgrade to HTTP/2", pieces: [upgrade("h2c"), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] },
    { name: "HTTP/2 without upgrade", pieces: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] },
    { name: "half of the headers", pieces: ["GET /api/v1/li", "nks HTTP/1.1\r\nHost: x\r\nAuthor"] },
    { name: "half a body", pieces: [`${post}Content-Length: 1000\r\n\r\n{"jsonrpc"`] },
    { name: "an incomplete chunk", pieces: [chunked, "400\r\n{"] },
    { name: "an incomplete chunk size", pieces: [`${chunked}4`] },
    { name: "an invalid chunk", pieces: [chunked, "zz\r\n"] },
    { name: "a body that is too large", pieces: [`${post}Content-Length: 2000000\r\n\r\n`, times(200_000, "x")] },
    {
      name: "a large body without a key",
      pieces: ["POST /api/v1/campaign-plans HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", times(200_000, "x")],
    },
    { name: "a request", pieces: [page] },
    { name: "an unread response", pieces: [page], unread: true },
    { name: "pipelined requests", pieces: [times(20, page)] },
    { name: "pipelined requests with unread responses", pieces: [times(20, page)], unread: true },
    { name: "pipelined requests and a half", pieces: [page + page.slice(0, 30)] },
    { name: "garbage after a request", pieces: [`${page}GARBAGE\r\n\r\n`] },
    { name: "Expect without a body", pieces: [`${post}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`] },
    { name: "Expect with half a body", pieces: [`${post}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`, times(500, " ")] },
    { name: "another Expect", pieces: [`GET /api/v1/links HTTP/1.1\r\n${authorised}Expect: tea\r\n\r\n`] },
    { name: "TLS instead of HTTP", pieces: ["\u0016\u0003\u0001\u0002\u0000\u0001\u0000"] },
    { name: "endless headers", pieces: [`GET / HTTP/1.1\r\nHost: x\r\n${times(500, `X-Large: ${times(100, "x")}\r\n`)}`] },
  ];
}

const ENDINGS = {
  reset: (socket: Socket) => void socket.resetAndDestroy(),
  destroy: (socket: Socket) => void socket.destroy(),
  "half-close": (socket: Socket) => void socket.end(),
};
type Ending = keyof typeof ENDINGS;

/** Opens one connection and ends it at a random moment after the first byte. Resolves once it is closed. */
function attack(url: string, shape: Shape, ending: Ending, random: Random): Promise<void> {
  const { hostname, port } = new URL(url);
  const openMs = random.chance(0.3) ? 0 : random.unit() * OPEN_MS_MAX;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`${shape.name}, ${ending}: the connection is still open`));
    }, CLOSE_MS_MAX);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.on("connect", () => {
      for (const piece of shape.pieces) socket.write(piece, "latin1");
      const end = (): void => {
        ENDINGS[ending](socket);
        // A socket that is never read does not see the server's end.
        socket.resume();
      };
      if (openMs === 0) end();
      else setTimeout(end, openMs);
    });
    socket.on("end", () => socket.end());
    if (shape.unread !== true) socket.resume();
  });
}

/** What an ordinary client gets: the status, or why there is none. */
const outcomeOf = (stack: Stack, { key }: TestBrand): Promise<string> =>
  stack.get("/api/v1/links", key).then(
    async (response) => {
      await response.arrayBuffer();
      return String(response.status);
    },
    (error: Error) => (error.cause instanceof Error ? error.cause : error).message,
  );

/**
 * One promise: whatever a connection sends, and however and whenever it ends, no process ends and no other client notices.
 * RAW_SOCKETS_SEED repeats a run.
 */
export function describeRawSockets({ connections }: { connections: number }): void {
  const seed = Number(process.env["RAW_SOCKETS_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

  describe(`${connections} hostile connections, RAW_SOCKETS_SEED=${seed}`, () => {
    let stack: Stack;
    let brand: TestBrand;
    beforeAll(async () => {
      stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000", HEADERS_TIMEOUT_MS: "1000", REQUEST_TIMEOUT_MS: "1500" } });
      brand = await stack.createBrand();
      await seedBrand(stack, brand.id);
    });
    afterAll(() => stack.stop());

    it("end no process, are all closed, and leave every other request 200", async () => {
      const ended: string[] = [];
      const processes = [stack.gateways[0].process, ...Object.values(stack.processes)];
      for (const { name, exited } of processes) void exited.then((exit) => ended.push(`${name}: ${JSON.stringify(exit)}`));
      const all = shapes(brand.key).flatMap((shape) => (Object.keys(ENDINGS) as Ending[]).map((ending) => ({ shape, ending })));
      let next = 0;
      const attacker = async (): Promise<void> => {
        for (let index = next++; index < connections; index = next++) {
          const { shape, ending } = all[index % all.length]!;
          await attack(stack.url, shape, ending, new Random(seed, index));
          expect(ended).toEqual([]);
        }
      };
      const clients = startClients(2, () => outcomeOf(stack, brand));
      try {
        await Promise.all(Array.from({ length: PARALLEL }, attacker));
      } finally {
        await clients.stop();
      }
      expect(ended).toEqual([]);
      expect([...new Set(clients.results)]).toEqual(["200"]);
      await eventually(async () => expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200));
    }, 900_000);
  });
}
