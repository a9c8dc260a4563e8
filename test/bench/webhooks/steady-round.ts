import { setTimeout as pause } from "node:timers/promises";
import type { Repeats } from "../harness/foreign-cores.ts";
import type { WebhookProduct } from "./product.ts";
import type { Receivers } from "./receivers.ts";
import {
  BACKLOG,
  BACKLOG_ALONE_SECONDS,
  BEHIND,
  DUMP_CALM_SECONDS,
  DUMP_RATE_PER_SECOND,
  DUMP_SECONDS,
  HANGING,
  RATE_PER_SECOND,
  RATE_SECONDS,
  RECEIVERS,
  SNAPSHOT_SECONDS,
} from "./settings.ts";
import { openSnapshot } from "./database-state.ts";
import { steady, type Steady } from "./steady.ts";

export type Phase = "calm" | "hanging" | "backlog" | "backlog_alone" | "deleted_backlog" | "calm_at_dump_rate" | "dump";
export type SteadyRound = Readonly<Record<Phase, Steady>>;

interface RoundParts {
  readonly product: WebhookProduct;
  readonly receivers: Receivers;
  readonly repeats: Repeats;
  readonly log: (text: string) => void;
}

const PACE = { perSecond: RATE_PER_SECOND, seconds: RATE_SECONDS };
const HANGING_RECEIVERS = Array.from({ length: HANGING }, (_, index) => RECEIVERS - 1 - index);

/** In this order. Each begins with an idle product, except those with a backlog: they continue with what the one before has left. */
const PHASES: Readonly<Record<Phase, (parts: RoundParts) => Promise<Steady>>> = {
  async calm({ product, receivers }) {
    await product.untilIdle();
    await product.settle();
    return steady(product, receivers, PACE);
  },
  hanging: hangingPhase,
  backlog: backlogPhase,
  backlog_alone: backlogAlonePhase,
  deleted_backlog: deletedBacklogPhase,
  async calm_at_dump_rate({ product, receivers }) {
    await product.untilIdle();
    await product.settle();
    return steady(product, receivers, { perSecond: DUMP_RATE_PER_SECOND, seconds: DUMP_CALM_SECONDS });
  },
  dump: dumpPhase,
};

/** Runs every phase, and again those that other programs disturbed. Leaves an idle product. */
export async function steadyRound(name: string, parts: RoundParts): Promise<SteadyRound> {
  const { product, repeats, log } = parts;
  const round: Partial<Record<Phase, Steady>> = {};
  for (const [phase, run] of Object.entries(PHASES) as [Phase, (typeof PHASES)[Phase]][]) {
    const result = await repeats.undisturbed(
      `${phase}, ${name}`,
      () => run(parts),
      () => product.settle(),
    );
    const figure = phase === "backlog_alone" ? `${Math.round(backlogRate(result))} deliveries/s` : `p99 ${result.p99_ms} ms`;
    log(`    ${phase.padEnd(18)} ${figure}, longest claim ${result.longest_claim_ms.toFixed(1)} ms`);
    for (const doubt of result.doubts) log(`      NOT TO BE TRUSTED: ${doubt}`);
    round[phase] = result;
  }
  await product.untilIdle();
  return round as SteadyRound;
}

/** Deliveries a second to the receiver that is behind. */
export const backlogRate = ({ arrived_per_second }: Pick<Steady, "arrived_per_second">): number => arrived_per_second[BEHIND] ?? 0;

/** Some receivers do not respond. Ends when they respond again, their circuits are closed and their queues are empty. */
async function hangingPhase({ product, receivers }: RoundParts): Promise<Steady> {
  await product.untilIdle();
  const result = await steady(product, receivers, {
    ...PACE,
    behavior: { hanging: HANGING_RECEIVERS, unmeasured: HANGING_RECEIVERS },
  });
  await receivers.begin();
  await product.restore(HANGING_RECEIVERS);
  await product.untilIdle();
  return result;
}

async function backlogPhase({ product, receivers }: RoundParts): Promise<Steady> {
  await product.settle();
  await product.addBacklog(BEHIND, BACKLOG);
  return steady(product, receivers, { ...PACE, behavior: { unmeasured: [BEHIND] } });
}

/** No events but those of the backlog: how fast it is sent when nothing else is. */
async function backlogAlonePhase({ product, receivers }: RoundParts): Promise<Steady> {
  await product.addBacklog(BEHIND, BACKLOG);
  const pace = { perSecond: 0, seconds: BACKLOG_ALONE_SECONDS };
  return steady(product, receivers, { ...pace, behavior: { unmeasured: [BEHIND] }, meanwhile: () => pause(BACKLOG_ALONE_SECONDS * 1_000) });
}

/**
 * Deletes the backlog under a snapshot that stays open for the first seconds of the measurement: until then no vacuum can remove
 * its rows from the indexes.
 */
async function deletedBacklogPhase({ product, receivers, log }: RoundParts): Promise<Steady> {
  await product.addBacklog(BEHIND, BACKLOG);
  const snapshot = await openSnapshot(product.benchUrl);
  try {
    const deleted = await product.deleteBacklog(BEHIND);
    log(`    deleted ${deleted.toLocaleString("en")} pending deliveries`);
    const meanwhile = async (): Promise<void> => {
      await pause(SNAPSHOT_SECONDS * 1_000);
      await snapshot.end();
    };
    return await steady(product, receivers, { ...PACE, meanwhile });
  } finally {
    await snapshot.end();
  }
}

/** A snapshot stays open for the whole phase: every row that the product is done with stays in the indexes. */
async function dumpPhase({ product, receivers }: RoundParts): Promise<Steady> {
  await product.untilIdle();
  const snapshot = await openSnapshot(product.benchUrl);
  try {
    return await steady(product, receivers, { perSecond: DUMP_RATE_PER_SECOND, seconds: DUMP_SECONDS });
  } finally {
    await snapshot.end();
  }
}
