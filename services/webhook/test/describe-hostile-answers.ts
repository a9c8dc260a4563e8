import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { Random } from "@brand-records/demo-data";
import { eventually } from "@brand-records/testkit";
import { parseEgressProxy } from "../src/domain/egress-proxy.ts";
import { OUTCOME_KINDS, type Outcome } from "../src/domain/outcome.ts";
import { attemptPost } from "../src/sending/attempt.ts";
import { RESPONSE_BYTES_MAX } from "../src/sending/reply.ts";
import { ReceiverAgent } from "../src/sending/receiver-agent.ts";

const SEED = 20_261_123;
const PARALLEL = 16;
const DEADLINE_MS = 400;
/** An attempt that takes longer has lost its deadline. */
const ATTEMPT_MS_MAX = 20_000;
const SECRET_PATH = "secret-path";

interface Answer {
  readonly bytes: string;
  readonly ending: "keep" | "end" | "reset";
  /** The status in the answer's first line, if it has one. */
  readonly status: number | undefined;
  /** Nothing in it is odd: the outcome follows from the status. */
  readonly isPlain: boolean;
}

const CRLF = "\r\n";
const MARKER = /m\d+-/g;

/** What may come before a plain response. */
const INFORMATIONAL = ["", "", `HTTP/1.1 100 Continue${CRLF}${CRLF}`, `HTTP/1.1 103 Early Hints${CRLF}Link: </a>${CRLF}${CRLF}`];

/** Returns what a server sends for the request of this marker. */
function randomAnswer(random: Random, marker: string, statuses: readonly number[]): Answer {
  const status = random.pick(statuses);
  const body = `${marker}${"x".repeat(random.pick([0, 10, 1_000, 30_000]))}`;
  if (random.chance(0.4)) {
    const bytes = `HTTP/1.1 ${status} Status${CRLF}Content-Length: ${body.length}${CRLF}${CRLF}${status === 204 ? "" : body}`;
    const hasBody = status !== 204;
    return {
      bytes: random.pick(INFORMATIONAL) + (hasBody ? bytes : `HTTP/1.1 204 No Content${CRLF}${CRLF}`),
      ending: random.pick(["keep", "end"]),
      status,
      isPlain: true,
    };
  }
  const line = random.pick([
    `HTTP/1.1 ${status} Status`,
    `HTTP/1.0 ${status}`,
    `HTTP/9.9 ${status} Status`,
    `HTTP/1.1 ${status}00`,
    "HTTP/1.1 200",
    "ICY 200 OK",
    "",
    "\u0016\u0003\u0001\u0002",
    `HTTP/1.1 100 Continue${CRLF}${CRLF}HTTP/1.1 ${status} Status`,
    `HTTP/1.1 101 Switching Protocols${CRLF}Upgrade: x${CRLF}Connection: upgrade${CRLF}${CRLF}HTTP/1.1 ${status} Status`,
  ]);
  const headers = Array.from({ length: random.below(4) }, () =>
    random.pick([
      `Content-Length: ${body.length}`,
      `Content-Length: ${body.length + 10}`,
      "Content-Length: 3",
      "Content-Length: -1",
      "Transfer-Encoding: chunked",
      "Transfer-Encoding: gzip, chunked",
      "Connection: close",
      "Connection: upgrade",
      "Retry-After: 99999999999999999999",
      "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT",
      "Location: http://127.0.0.1/elsewhere",
      "Content-Encoding: gzip",
      `X-Large: ${"x".repeat(random.pick([1_000, 100_000]))}`,
      "X-Odd: \u0000\u0001",
      "no colon",
      " folded",
      "Trailer: a",
    ]),
  );
  const text = random.pick([body, `${body.length.toString(16)}${CRLF}${body}${CRLF}0${CRLF}${CRLF}`, `zz${CRLF}${body}`, ""]);
  const extra = random.chance(0.2) ? `HTTP/1.1 200 OK${CRLF}Content-Length: 5${CRLF}${CRLF}extra` : "";
  const whole = [line, ...headers].join(CRLF) + CRLF + CRLF + text + extra;
  const bytes = random.chance(0.3) ? whole.slice(0, random.below(whole.length + 1)) : whole;
  const [, first] = /^HTTP\/\d\.\d (\d{3})/.exec(line) ?? [];
  return { bytes, ending: random.pick(["keep", "end", "reset"]), status: first === undefined ? undefined : Number(first), isPlain: false };
}

/** A receiver, and the proxy before it, that answer what they like. */
class HostileServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #random: Random;
  /** Keys are the markers of requests. */
  readonly answers = new Map<string, Answer[]>();

  constructor(random: Random) {
    this.#random = random;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket)).on("error", () => {});
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const [tunnel] = /^CONNECT \S+ HTTP\/1\.1\r\n(?:.*\r\n)*?\r\n/.exec(text) ?? [];
      if (tunnel !== undefined) {
        text = text.slice(tunnel.length);
        const isOpened = this.#random.chance(0.6);
        this.#send(socket, isOpened ? plainTunnel : randomAnswer(this.#random, "proxy", [200, 200, 403, 407, 502, 503, 504]));
        return;
      }
      const marker = /\r\n\r\n(m\d+-)$/.exec(text)?.[1];
      if (marker === undefined) return;
      text = "";
      const answer = randomAnswer(this.#random, marker, [200, 201, 204, 301, 400, 404, 410, 429, 500, 503]);
      this.answers.set(marker, [...(this.answers.get(marker) ?? []), answer]);
      this.#send(socket, answer);
    });
  }

  #send(socket: Socket, { bytes, ending }: Answer): void {
    socket.write(bytes, "latin1", () => {
      if (ending === "end") socket.end();
      else if (ending === "reset") socket.resetAndDestroy();
    });
  }
}

const plainTunnel: Answer = { bytes: `HTTP/1.1 200 Connected${CRLF}${CRLF}`, ending: "keep", status: 200, isPlain: true };

/**
 * One promise: whatever a receiver or an egress proxy answers, an attempt ends within its deadline with an outcome of its own request, is
 * accepted only by a 2xx, and leaves no connection.
 */
export function describeHostileAnswers({ attempts }: { readonly attempts: number }): void {
  describe.each(["a hostile receiver", "a hostile egress proxy"] as const)("%s", (hostile) => {
    it(`gets ${attempts} attempts`, async () => {
      const server = new HostileServer(new Random(SEED, 0));
      await server.start();
      const isProxy = hostile === "a hostile egress proxy";
      const proxy = { address: parseEgressProxy(`http://127.0.0.1:${server.port}`), mode: "name" as const };
      const agent = new ReceiverAgent({ allowLoopback: true, connectionsMax: PARALLEL, ...(isProxy && { proxy }) });
      const problems: string[] = [];
      const outcomes = new Map<string, number>();
      let next = 0;
      const attempt = async (marker: string): Promise<void> => {
        const url = `http://127.0.0.1:${server.port}/${SECRET_PATH}`;
        const request = attemptPost(agent, { url, headers: {}, body: Buffer.from(marker), deadlineMs: DEADLINE_MS });
        const late = setTimeout(() => problems.push(`${marker} has no outcome`), ATTEMPT_MS_MAX);
        const outcome = await request;
        clearTimeout(late);
        outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
        problems.push(...problemsOf(marker, outcome, server.answers.get(marker) ?? []));
      };
      const sender = async (): Promise<void> => {
        while (next < attempts) await attempt(`m${next++}-`);
      };
      try {
        await Promise.all(Array.from({ length: PARALLEL }, sender));
        expect(problems).toEqual([]);
        expect(outcomes.get("accepted")).toBeGreaterThan(attempts / 20);
        await agent.stop();
        await eventually(() => expect(server.connections).toBe(0));
      } finally {
        await agent.stop();
        await server.stop();
      }
    }, 600_000);
  });
}

/** A kept connection that breaks is replaced. The proxy may refuse the next one, or say (502, 504) that it did not reach the target. */
const openedNoTunnel = ({ kind, error }: Pick<Outcome, "kind" | "error">): boolean =>
  kind === "proxy_refused" || (kind === "connect" && error?.includes("PROXY_TARGET_") === true);

function problemsOf(marker: string, { kind, httpStatus, error, response }: Outcome, answers: readonly Answer[]): string[] {
  const problems: string[] = [];
  const statuses = answers.map(({ status }) => status);
  if (!OUTCOME_KINDS.includes(kind)) problems.push(`has the outcome ${kind}`);
  if ((response?.length ?? 0) > RESPONSE_BYTES_MAX) problems.push(`keeps ${response?.length} bytes`);
  if (error?.includes(SECRET_PATH)) problems.push(`has the error ${error}`);
  const foreign = (response?.toString("latin1").match(MARKER) ?? []).filter((found) => found !== marker);
  if (foreign.length > 0) problems.push(`has the response to ${foreign[0]}`);
  if (kind === "accepted" && !(httpStatus !== null && httpStatus >= 200 && httpStatus < 300)) problems.push(`is accepted by ${httpStatus}`);
  const last = answers.at(-1);
  if (last?.isPlain && kind !== "timeout" && !openedNoTunnel({ kind, error }) && httpStatus !== last.status)
    problems.push(`got ${statuses.join(", ")}, and has ${kind} ${httpStatus} (${error})`);
  return problems.map((problem) => `${marker} ${problem}`);
}
