import { connect, type Socket } from "node:net";
import { Random } from "@brand-records/demo-data";
import { eventually } from "@brand-records/testkit";
import { seedBrand } from "../seed-brand.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

const PARALLEL = 25;
const MOMENT_MS_MAX = 40;
/** A connection that the client half-closed is the server's to end; this is longer than any bound of the server's. */
const LET_GO_MS_MAX = 150_000;

interface Shape {
  readonly name: string;
  readonly pieces: readonly string[];
  /** The client never reads. */
  readonly unread?: boolean;
}

const times = (count: number, text: string): string => text.repeat(count);

/** What a client may send, whole or in part. */
function shapes(key: string): Shape[] {
  const authorised = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  const page = `GET /api/v1/submissions?limit=50 HTTP/1.1\r\n${authorised}\r\n`;
  const post = `POST /api/mcp HTTP/1.1\r\n${authorised}Content-Type: application/json\r\n`;
  const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
  const tunnel = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n";
  const upgrade = (protocol: string) => `GET /api/v1/links HTTP/1.1\r\n${authorised}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
  return [
    { name: "nothing", pieces: [] },
    { name: "CONNECT", pieces: [tunnel] },
    { name: "CONNECT, and bytes for the tunnel", pieces: [tunnel, times(10_000, "tunnel")] },
    { name: "CONNECT after requests", pieces: [times(3, page) + tunnel] },
    { name: "an upgrade to WebSocket", pieces: [upgrade("websocket"), "\u0081\u0005hello"] },
    { name: "an upgrade to HTTP/2", pieces: [upgrade("h2c"), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] },
    { name: "HTTP/2 unasked", pieces: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] },
    { name: "half a head", pieces: ["GET /api/v1/li", "nks HTTP/1.1\r\nHost: x\r\nAuthor"] },
    { name: "half a body", pieces: [`${post}Content-Length: 1000\r\n\r\n{"jsonrpc"`] },
    { name: "a chunk cut off", pieces: [chunked, "400\r\n{"] },
    { name: "a chunk size cut off", pieces: [`${chunked}4`] },
    { name: "chunks that are none", pieces: [chunked, "zz\r\n"] },
    { name: "too large a body", pieces: [`${post}Content-Length: 2000000\r\n\r\n`, times(200_000, "x")] },
    {
      name: "a large body without a key",
      pieces: ["POST /api/v1/campaign-plans HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", times(200_000, "x")],
    },
    { name: "a request", pieces: [page] },
    { name: "an answer left unread", pieces: [page], unread: true },
    { name: "pipelined requests", pieces: [times(20, page)] },
    { name: "pipelined requests left unread", pieces: [times(20, page)], unread: true },
    { name: "pipelined requests and a half", pieces: [page + page.slice(0, 30)] },
    { name: "garbage after a request", pieces: [`${page}GARBAGE\r\n\r\n`] },
    { name: "Expect, and no body", pieces: [`${post}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`] },
    { name: "Expect, and half a body", pieces: [`${post}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`, times(500, " ")] },
    { name: "another Expect", pieces: [`GET /api/v1/links HTTP/1.1\r\n${authorised}Expect: tea\r\n\r\n`] },
    { name: "no HTTP", pieces: ["\u0016\u0003\u0001\u0002\u0000\u0001\u0000"] },
    { name: "headers without end", pieces: [`GET / HTTP/1.1\r\nHost: x\r\n${times(500, `X-Large: ${times(100, "x")}\r\n`)}`] },
  ];
}

const ENDINGS = {
  reset: (socket: Socket) => void socket.resetAndDestroy(),
  destroy: (socket: Socket) => void socket.destroy(),
  "half-close": (socket: Socket) => void socket.end(),
};
type Ending = keyof typeof ENDINGS;

/** One connection, ended at a random moment from the first byte on; resolves once it is closed. */
function attack(url: string, shape: Shape, ending: Ending, random: Random): Promise<void> {
  const { hostname, port } = new URL(url);
  const momentMs = random.chance(0.3) ? 0 : random.unit() * MOMENT_MS_MAX;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`${shape.name}, ${ending}: the connection is still open`));
    }, LET_GO_MS_MAX);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(late);
      resolve();
    });
    socket.on("connect", () => {
      for (const piece of shape.pieces) socket.write(piece, "latin1");
      const end = (): void => {
        ENDINGS[ending](socket);
        // One that reads nothing would never see the server's end either.
        socket.resume();
      };
      if (momentMs === 0) end();
      else setTimeout(end, momentMs);
    });
    // The server has ended its side: there is nothing more to come.
    socket.on("end", () => socket.end());
    if (shape.unread !== true) socket.resume();
  });
}

/** Ordinary clients, each with one request at a time, while `work` is under way; what they were answered, by status. */
async function besideTraffic(stack: Stack, brand: TestBrand, work: () => Promise<void>): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  let stopping = false;
  const client = async (): Promise<void> => {
    while (!stopping) {
      const outcome = await stack.get("/api/v1/links", brand.key).then(
        async (response) => {
          await response.arrayBuffer();
          return String(response.status);
        },
        (error: Error) => (error.cause instanceof Error ? error.cause : error).message,
      );
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
    }
  };
  const clients = [client(), client()];
  try {
    await work();
  } finally {
    stopping = true;
    await Promise.all(clients);
  }
  return statuses;
}

/**
 * One promise: whatever comes over a connection, and however and whenever it ends, no process ends and nobody else
 * notices.
 *
 * @param seed of everything random; RAW_SOCKETS_SEED repeats a run
 */
export function describeRawSockets({ connections }: { connections: number }): void {
  const seed = Number(process.env["RAW_SOCKETS_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

  describe(`${connections} hostile connections, RAW_SOCKETS_SEED=${seed}`, () => {
    let stack: Stack;
    let brand: TestBrand;
    beforeAll(async () => {
      stack = await startStack({ env: { RATE_LIMIT_PLUS: "100000", HEADERS_TIMEOUT_MS: "1000", REQUEST_TIMEOUT_MS: "1500" } });
      brand = await stack.createBrand();
      await seedBrand(stack, brand.id, { campaigns: 5, submissions: 400, payouts: 5, deposits: 5, conversions: 5, links: 5 });
    }, 120_000);
    afterAll(() => stack.stop());

    it("end no process, are all let go, and everybody else is answered 200 meanwhile", async () => {
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
      const statuses = await besideTraffic(stack, brand, async () => {
        await Promise.all(Array.from({ length: PARALLEL }, attacker));
      });
      expect(ended).toEqual([]);
      expect([...statuses.keys()]).toEqual(["200"]);
      await eventually(async () => expect((await stack.get("/api/v1/links", brand.key)).status).toBe(200));
    }, 900_000);
  });
}
