import { CONNECTIONS, LEAD_IN_BRANDS } from "../settings.ts";
import { quantile } from "../../harness/statistics.ts";
import { DIALECTS } from "./dialects.ts";
import { HttpConnection } from "./http-connection.ts";
import type { Destination, KeySets, RunRequest, RunResult, VariantName } from "./start-load.ts";
import { Walks } from "./walks.ts";

/** A variant's connections and positions. They last from one turn to the next, as in real integrations. */
interface Target {
  readonly variant: VariantName;
  readonly walks: Walks;
  connections: readonly HttpConnection[];
  /** API keys by brand number. */
  keys: readonly string[];
}

export class LoadGenerator {
  readonly #keySets: KeySets;
  readonly #targets = new Map<VariantName, Target>();
  #turns = 0;

  constructor(keySets: KeySets) {
    this.#keySets = keySets;
  }

  /**
   * Begins a turn with uncached keys, and sends one request for most brands. As many keys remain to be verified during the
   * turn as would expire in its time if the variant ran alone on the machine.
   *
   * @throws Error at the first response that is not the requested page
   */
  async prepare(destination: Destination): Promise<void> {
    const target = await this.#targetAt(destination);
    target.keys = this.#keySets[this.#turns % this.#keySets.length] ?? [];
    this.#turns += 1;
    target.walks.shuffle();
    let left = LEAD_IN_BRANDS;
    await onEachConnection(target, async (connection) => {
      for (; left > 0; left -= 1) await visit(target, connection);
    });
  }

  /** @throws Error at the first response that is not the requested page */
  async run({ seconds, ...destination }: RunRequest): Promise<RunResult> {
    const target = await this.#targetAt(destination);
    const latencies: number[] = [];
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1_000;
    await onEachConnection(target, async (connection) => {
      while (performance.now() < endsAt) latencies.push(await visit(target, connection));
    });
    const elapsed = (performance.now() - startedAt) / 1_000;
    const sorted = Float64Array.from(latencies).toSorted();
    return { requests: sorted.length, seconds: elapsed, p50_ms: quantile(sorted, 0.5), p99_ms: quantile(sorted, 0.99) };
  }

  /** Replaces connections that the server has closed while idle, as any HTTP client does. */
  async #targetAt({ variant, port }: Destination): Promise<Target> {
    const target = this.#targets.get(variant) ?? { variant, walks: new Walks(), connections: [], keys: [] };
    this.#targets.set(variant, target);
    const open = target.connections.filter((connection) => connection.isOpen);
    const missing = Array.from({ length: CONNECTIONS - open.length }, () => HttpConnection.open(port));
    target.connections = [...open, ...(await Promise.all(missing))];
    return target;
  }
}

async function onEachConnection({ connections }: Target, work: (connection: HttpConnection) => Promise<void>): Promise<void> {
  await Promise.all(connections.map(work));
}

/** Returns the milliseconds until the response. Checking it counts as the client's think time, not as latency. */
async function visit({ variant, walks, keys }: Target, connection: HttpConnection): Promise<number> {
  const { request, pageIn } = DIALECTS[variant];
  const next = walks.next();
  const sentAt = performance.now();
  const { status, head, body } = await connection.send(request(next, keys[next.brand] ?? ""));
  const latency = performance.now() - sentAt;
  if (status !== 200) throw new Error(`${variant} failed on brand ${next.brand}, page ${next.page}:\n${head}\n\n${body}`);
  walks.record(next, pageIn(body));
  return latency;
}
