import { randomBytes } from "node:crypto";
import { Agent } from "undici";
import { spreadOf } from "../harness/statistics.ts";
import { waitForCount } from "./database-state.ts";
import { type Ratio, ratioOf } from "../harness/statistics.ts";
import type { Behavior, Receivers } from "./receivers.ts";
import { doubtLines } from "./report.ts";
import { BODY_BYTES, DELIVERIES, HANGING, PEER_CONNECTIONS, RATE_PER_SECOND, RATE_SECONDS, RECEIVERS, ROUNDS } from "./settings.ts";
import { callAtPace, doubtsAbout, measuredOf, p99BySecond, percentile } from "./steady.ts";

const TOPIC = "submission.approved";
/** Pads an event of about 330 bytes to the measured size. */
const PADDING = "x".repeat(BODY_BYTES - 330);

/** Where an Outpost is, with its version: `http://127.0.0.1:3333/api/v1`. */
interface PeerAddress {
  readonly url: string;
  readonly apiKey: string;
}

/** A running Outpost (https://github.com/hookdeck/outpost) with a tenant and a webhook destination for each receiver. */
export class Outpost {
  readonly #address: PeerAddress;
  readonly #agent = new Agent({ connections: PEER_CONNECTIONS });
  /** Tenants of this run: those of an earlier one have destinations that no longer exist. */
  readonly #run = randomBytes(4).toString("hex");
  readonly #tenants: string[] = [];

  constructor(address: PeerAddress) {
    this.#address = { ...address, url: address.url.replace(/\/$/, "") };
  }

  /** Creates a tenant with one destination for each port. */
  async register(ports: readonly number[]): Promise<void> {
    for (const [receiver, port] of ports.entries()) {
      const tenant = `bench_${this.#run}_${receiver}`;
      await this.#call("PUT", `/tenants/${tenant}`);
      this.#tenants.push(tenant);
      const destination = { type: "webhook", topics: [TOPIC], config: { url: `http://127.0.0.1:${port}/` } };
      await this.#call("POST", `/tenants/${tenant}/destinations`, destination);
    }
  }

  /**
   * Publishes an event for a receiver. Resolves once Outpost has accepted it.
   *
   * @throws if it matches no destination
   */
  async publish(receiver: number, number: number): Promise<void> {
    const id = `evt_${this.#run}_${number}`;
    const created_at = new Date().toISOString();
    const data = { id, type: TOPIC, created_at, brand_id: this.#tenants[receiver], data: recordOf(number) };
    const event = { id, tenant_id: this.#tenants[receiver], topic: TOPIC, eligible_for_retry: true, time: created_at, data };
    const { destination_ids: destinations } = (await this.#call("POST", "/publish", event)) as { destination_ids?: string[] };
    if (destinations?.length === 0) throw new Error(`the peer has no destination for ${TOPIC}: its TOPICS must contain it`);
  }

  /** Deletes the run's tenants. */
  async stop(): Promise<void> {
    try {
      for (const tenant of this.#tenants) await this.#call("DELETE", `/tenants/${tenant}`);
    } finally {
      await this.#agent.close();
    }
  }

  async #call(method: "PUT" | "POST" | "DELETE", path: string, body: object = {}): Promise<unknown> {
    const { origin, pathname } = new URL(this.#address.url + path);
    const response = await this.#agent.request({
      origin,
      path: pathname,
      method,
      headers: { authorization: `Bearer ${this.#address.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: the peer returned ${response.statusCode}: ${text.slice(0, 200)}`);
    return text === "" ? {} : JSON.parse(text);
  }
}

const recordOf = (number: number) => ({
  resource: "submissions",
  id: `sub_${number}`,
  campaign_id: "cmp_1",
  status: "approved",
  previous_status: "pending",
  earned_centavos: 12_000,
  currency: "PHP",
  padding: PADDING,
});

interface PeerPhase {
  /** Time from just before the publication to the arrival. */
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p99_ms_by_second: readonly (number | null)[];
  readonly missing: number;
  readonly doubts: readonly string[];
}

export interface PeerResult {
  /** From the first publication to the last arrival. */
  readonly peer_deliveries_per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly ratios: { readonly healthy_p99_with_hanging_over_without: Ratio };
  readonly not_to_be_trusted: readonly string[];
  readonly burst_rounds: readonly number[];
  readonly calm_rounds: readonly PeerPhase[];
  readonly hanging: PeerPhase;
}

type Peer = Pick<Outpost, "publish">;
/** Numbers the run's events. */
type NextNumber = () => number;

const STUCK_MS = 30_000;
const PACE = { perSecond: RATE_PER_SECOND, seconds: RATE_SECONDS };

/**
 * Posts the product's load to a peer. Its processes are not measured: their CPU time is the peer's machine's. Receivers hang once,
 * at the end, because a peer sends retries minutes later.
 */
export async function measurePeer(peer: Peer, receivers: Receivers, log: (text: string) => void): Promise<PeerResult> {
  let published = 0;
  const next = (): number => (published += 1);
  const bursts: number[] = [];
  const calm: PeerPhase[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    bursts.push(await burst(peer, receivers, next));
    calm.push(await steady(peer, receivers, next));
    log(`  round ${round}: ${Math.round(bursts.at(-1) ?? 0)}/s; at ${RATE_PER_SECOND}/s p99 ${calm.at(-1)?.p99_ms} ms`);
  }
  const numbers = Array.from({ length: HANGING }, (_, index) => RECEIVERS - 1 - index);
  const hanging = await steady(peer, receivers, next, { hanging: numbers, unmeasured: numbers });
  const p99 = spreadOf(calm.map(({ p99_ms }) => p99_ms)).median;
  const phases = [...calm.map((phase, index) => [`calm, round ${index + 1}`, phase] as const), ["hanging", hanging] as const];
  return {
    peer_deliveries_per_second: spreadOf(bursts).median,
    p50_ms: spreadOf(calm.map(({ p50_ms }) => p50_ms)).median,
    p99_ms: p99,
    ratios: { healthy_p99_with_hanging_over_without: ratioOf([hanging.p99_ms / p99]) },
    not_to_be_trusted: phases.flatMap(([name, { doubts }]) => doubts.map((doubt) => `${name}: ${doubt}`)),
    burst_rounds: bursts,
    calm_rounds: calm,
    hanging,
  };
}

async function burst(peer: Peer, receivers: Receivers, next: NextNumber): Promise<number> {
  await receivers.begin();
  const startedAt = performance.now();
  let left = DELIVERIES;
  const publish = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      await peer.publish(left % RECEIVERS, next());
    }
  };
  await Promise.all(Array.from({ length: PEER_CONNECTIONS }, publish));
  if (!(await waitForCount(async () => (await receivers.count()).arrived, DELIVERIES, STUCK_MS))) {
    throw new Error(`the peer has sent nothing for ${STUCK_MS / 1_000} s: ${(await receivers.count()).arrived} of ${DELIVERIES}`);
  }
  return DELIVERIES / ((performance.now() - startedAt) / 1_000);
}

async function steady(peer: Peer, receivers: Receivers, next: NextNumber, behavior: Partial<Behavior> = {}): Promise<PeerPhase> {
  await receivers.begin(behavior);
  const startedAtMs = Date.now();
  const { seconds } = await callAtPace(PACE, (number) => peer.publish(number % RECEIVERS, next()));
  const expected = measuredOf(PACE, behavior);
  await waitForCount(async () => (await receivers.count()).measured, expected, STUCK_MS);
  const arrivals = await receivers.report();
  const missing = Math.max(0, expected - arrivals.latenciesMs.length);
  return {
    p50_ms: percentile(arrivals.latenciesMs, 0.5) ?? Number.NaN,
    p99_ms: percentile(arrivals.latenciesMs, 0.99) ?? Number.NaN,
    p99_ms_by_second: p99BySecond(arrivals, startedAtMs),
    missing,
    // The peer itself is another program.
    doubts: doubtsAbout({ pace: PACE, seconds, missing, foreign_cores: 0 }),
  };
}

/** Formats the peer's result for a terminal. */
export function reportPeer({ peer_deliveries_per_second: rate, p50_ms, p99_ms, ratios, not_to_be_trusted }: PeerResult): string {
  return [
    `  deliveries per second           ${Math.round(rate).toLocaleString("en").padStart(8)}   from the first publication to the last arrival`,
    `  p99 publication to arrival      ${Math.round(p99_ms).toLocaleString("en").padStart(8)} ms at ${RATE_PER_SECOND}/s; median ${Math.round(p50_ms)} ms`,
    `  healthy p99 with hanging / calm ${ratios.healthy_p99_with_hanging_over_without.median.toFixed(2).padStart(8)}   ${HANGING} of ${RECEIVERS} hang`,
    ...doubtLines(not_to_be_trusted),
  ].join("\n");
}
