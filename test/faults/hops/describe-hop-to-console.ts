import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { Random } from "@brand-records/demo-data";
import { eventually } from "@brand-records/testkit";
import { GatewayUnderTest } from "./gateway-under-test.ts";
import { randomConnection } from "./random-connection.ts";
import { RecordingUpstream, type SeenRequest } from "./recording-upstream.ts";
import { runConnection } from "./run-connection.ts";

const PARALLEL = 160;
/** HOPS_FIRST begins with that connection of the seed. */
const FIRST = Number(process.env["HOPS_FIRST"] ?? 0);
/** Connections after which what the upstream saw is compared with what the gateway logged. */
const BATCH = 1_000;
/**
 * Memory is steady if it has grown by less than this in so many batches. Buffers, caches and the heap reach their size within the first
 * batches, on a busy machine later: a run that outlasts the warm-up goes on until then. With a leak of 4 KiB a connection it never is.
 */
const STEADY_MIB = 20;
const STEADY_BATCHES = 5;
const WARM_UP_BATCHES = 10;
const BATCHES_MORE_MAX = 60;
const PROBLEMS_SHOWN = 10;
/** More than the gateway's connections to the console. */
const UNFINISHED_BODIES = 300;
/** More requests of one address at a time than the gateway lets through. */
const BURST = 100;
/** No connection of a run has ids as high as these. */
const BURST_ID = 1_000_000_000;
const IN_FLIGHT_OF_ADDRESS_MAX = 64;

export interface HopOptions {
  /** Runs until this time is over or this many requests were sent. */
  readonly seconds?: number;
  readonly requests?: number;
}

/**
 * One promise: whatever a client sends and whatever the upstream does, every response belongs to its request, the upstream sees what the
 * gateway logs and nothing else, no process ends, and sockets and memory return. HOPS_SEED repeats a run.
 */
export function describeHopToConsole({ seconds = Infinity, requests: requestsMax = Infinity }: HopOptions): void {
  const seed = Number(process.env["HOPS_SEED"] ?? 20_261_123);

  describe(`the hop from client to console, HOPS_SEED=${seed}`, () => {
    let upstream: RecordingUpstream;
    let gateway: GatewayUnderTest;
    beforeAll(async () => {
      upstream = await RecordingUpstream.start();
      gateway = await GatewayUnderTest.start(upstream.address);
    });
    afterAll(async () => {
      await gateway.stop();
      await upstream.stop();
    });

    it("keeps requests, responses and connections apart", async () => {
      const run = new Run(seed, gateway, upstream);
      const socketsBefore = gateway.sockets();
      const until = Date.now() + seconds * 1_000;
      const unfinished = keepUnfinished(gateway.port, UNFINISHED_BODIES);
      const residentMib: number[] = [];
      const batch = async (end: number): Promise<void> => {
        await run.batch(end);
        expect(run.problems.slice(0, PROBLEMS_SHOWN)).toEqual([]);
        residentMib.push(gateway.residentMib());
      };
      const growthMib = (): number => (residentMib.at(-1) ?? 0) - (residentMib.at(-1 - STEADY_BATCHES) ?? 0);
      try {
        await run.burst();
        while (Date.now() < until && run.requests < requestsMax) await batch(until);
        if (residentMib.length > WARM_UP_BATCHES) {
          for (let more = 0; more < BATCHES_MORE_MAX && growthMib() >= STEADY_MIB; more += 1) await batch(Infinity);
          expect(growthMib()).toBeLessThan(STEADY_MIB);
        }
      } finally {
        unfinished.stop();
      }
      run.report();
      expect(upstream.inFlightMax).toBeLessThanOrEqual(IN_FLIGHT_OF_ADDRESS_MAX);
      expect(run.servedPlainly).toBeGreaterThan(0);
      await eventually(async () => expect(gateway.sockets() - (await upstream.connections())).toBe(socketsBefore));
    }, 3_600_000);
  });
}

/** Keeps connections open whose body never ends: a new one for each that the gateway closes. */
function keepUnfinished(port: number, count: number): { stop(): void } {
  const open = new Set<Socket>();
  let isStopped = false;
  const start = (): void => {
    const socket = connect({ port, host: "127.0.0.1" });
    open.add(socket);
    socket.write("POST /sign-in HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 1000\r\n\r\n{");
    socket.resume().on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      if (!isStopped) start();
    });
  };
  for (let n = 0; n < count; n += 1) start();
  return {
    stop() {
      isStopped = true;
      for (const socket of open) socket.destroy();
    },
  };
}

class Run {
  readonly problems: string[] = [];
  requests = 0;
  /** Connections whose every request was served with its own body. */
  servedPlainly = 0;
  readonly #statuses = new Map<number, number>();
  /** Markers of this batch and the one before that must not come through. */
  #refused = new Set<string>();
  #loggedLately = new Map<string, SeenRequest>();
  readonly #seed: number;
  readonly #gateway: GatewayUnderTest;
  readonly #upstream: RecordingUpstream;
  #connections = FIRST;

  constructor(seed: number, gateway: GatewayUnderTest, upstream: RecordingUpstream) {
    this.#seed = seed;
    this.#gateway = gateway;
    this.#upstream = upstream;
  }

  async batch(until: number): Promise<void> {
    const refusedBefore = this.#refused;
    this.#refused = new Set();
    const last = this.#connections + BATCH;
    const client = async (): Promise<void> => {
      while (this.#connections < last && Date.now() < until && this.#gateway.ended === undefined) await this.#connect(this.#connections++);
    };
    await Promise.all(Array.from({ length: PARALLEL }, client));
    if (this.#gateway.ended !== undefined) this.problems.unshift(`the gateway ended: ${this.#gateway.ended}`);
    this.problems.push(...this.#upstream.problems.splice(0));
    await this.#compareWithLog(refusedBefore);
  }

  /** Sends many requests of one address at once, which the upstream holds. */
  async burst(): Promise<void> {
    const requests = Array.from({ length: BURST }, (_, n) => {
      const marker = `c${BURST_ID + n}-r0-hold`;
      const headers = { connection: "close", "x-request-id": marker, cookie: `m=${marker}`, "x-forwarded-for": "192.0.2.2" };
      return once(get({ port: this.#gateway.port, path: `/developers/${marker}`, headers, agent: false }), "response");
    });
    for (const [response] of await Promise.all(requests)) (response as IncomingMessage).resume();
  }

  async #connect(id: number): Promise<void> {
    const connection = randomConnection(new Random(this.#seed, id), id);
    this.requests += connection.requests.length;
    for (const { marker, isRefused } of connection.requests) if (isRefused) this.#refused.add(marker);
    const { problems, statuses } = await runConnection(this.#gateway.port, connection);
    this.problems.push(...problems);
    for (const status of statuses) this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (connection.isPlain && problems.length === 0) this.servedPlainly += 1;
  }

  /**
   * The line of a request is written when its response is complete or its client has left. The upstream may see the request of a client
   * that has left later, in the next batch.
   */
  async #compareWithLog(refusedBefore: ReadonlySet<string>): Promise<void> {
    const seen = this.#upstream.takeSeen();
    const logged = new Map(this.#loggedLately);
    const read = (): void => {
      for (const { request_id, method } of this.#gateway.takeLogged()) {
        logged.set(request_id, { method, times: (logged.get(request_id)?.times ?? 0) + 1 });
      }
    };
    await eventually(() => {
      read();
      const missing = [...seen.keys()].filter((id) => !logged.has(id));
      if (this.#gateway.ended === undefined && missing.length > 0)
        throw new Error(`the upstream saw what the gateway did not log: ${missing.join(", ")}`);
    }).catch((error: unknown) => this.problems.push(String(error)));
    this.#loggedLately = new Map([...logged].filter(([id]) => !this.#loggedLately.has(id)));
    for (const [id, request] of seen) {
      this.problems.push(...differences(id, request, logged.get(id)));
      if (this.#refused.has(id) || refusedBefore.has(id)) this.problems.push(`${id} has what is refused, and came through`);
    }
  }

  report(): void {
    const statuses = [...this.#statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${status === 0 ? "cut" : status}: ${count}`);
    const mib = Math.round(this.#gateway.residentMib());
    process.stdout.write(
      `${this.requests} requests on ${this.#connections} connections, ${this.servedPlainly} of them plain; ${statuses.join(", ")}; ${mib} MiB\n`,
    );
  }
}

function differences(id: string, seen: SeenRequest, logged: SeenRequest | undefined): string[] {
  if (logged === undefined) return [];
  if (seen.method !== logged.method) return [`${id} was logged as ${logged.method} and seen as ${seen.method}`];
  // A read is repeated once if the upstream closes its connection.
  const timesMax = logged.times * (seen.method === "GET" || seen.method === "HEAD" ? 2 : 1);
  return seen.times > timesMax ? [`${id} was logged ${logged.times} times and seen ${seen.times} times`] : [];
}
