import { spreadOf } from "../../statistics.ts";
import { p99BySecond, percentile } from "../latencies.ts";
import { callAtPace } from "../paced.ts";
import { ratioOf, type Ratio } from "../ratios.ts";
import type { Behavior, Receivers } from "../receivers.ts";
import { DELIVERIES, HANGING, PEER_CONNECTIONS, RATE_PER_SECOND, RATE_SECONDS, RECEIVERS, ROUNDS } from "../settings.ts";
import { doubtsAbout, measuredOf } from "../steady.ts";
import { waitForCount } from "../wait-for.ts";
import type { Outpost } from "./outpost.ts";

export interface PeerPhase {
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
