import { setTimeout as pause } from "node:timers/promises";
import type { WebhookProduct } from "./product.ts";
import type { Receivers } from "./receivers.ts";
import {
  BACKLOG,
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

const PHASES = ["calm", "hanging", "backlog", "deleted_backlog", "calm_at_dump_rate", "dump"] as const;
export type Phase = (typeof PHASES)[number];
export type SteadyRound = Readonly<Record<Phase, Steady>>;

interface RoundParts {
  readonly product: WebhookProduct;
  readonly receivers: Receivers;
  readonly log: (text: string) => void;
}

const PACE = { perSecond: RATE_PER_SECOND, seconds: RATE_SECONDS };
/** Number of the receiver with the backlog. */
const BEHIND = 0;
const HANGING_RECEIVERS = Array.from({ length: HANGING }, (_, index) => RECEIVERS - 1 - index);

/** Runs every phase once. Each leaves an idle product to the next, except that the deletion follows its backlog. */
export async function steadyRound(parts: RoundParts): Promise<SteadyRound> {
  const { product, receivers, log } = parts;
  const measure = async (phase: Phase, run: () => Promise<Steady>): Promise<Steady> => {
    const result = await run();
    log(`    ${phase.padEnd(18)} p99 ${result.p99_ms} ms, longest claim ${result.longest_claim_ms.toFixed(1)} ms`);
    for (const doubt of result.doubts) log(`      NOT TO BE TRUSTED: ${doubt}`);
    return result;
  };
  await product.settle();
  const calm = await measure("calm", () => steady(product, receivers, PACE));
  await product.untilIdle();
  const hanging = await measure("hanging", () => hangingPhase(parts));
  await product.settle();
  const backlog = await measure("backlog", () => backlogPhase(parts));
  const deleted_backlog = await measure("deleted_backlog", () => deletedBacklogPhase(parts));
  await product.untilIdle();
  await product.settle();
  const calm_at_dump_rate = await measure("calm_at_dump_rate", () =>
    steady(product, receivers, { perSecond: DUMP_RATE_PER_SECOND, seconds: DUMP_CALM_SECONDS }),
  );
  await product.untilIdle();
  const dump = await measure("dump", () => dumpPhase(parts));
  await product.untilIdle();
  return { calm, hanging, backlog, deleted_backlog, calm_at_dump_rate, dump };
}

/** Some receivers do not respond. Ends when they respond again, their circuits are closed and their queues are empty. */
async function hangingPhase({ product, receivers }: RoundParts): Promise<Steady> {
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
  await product.addBacklog(BEHIND, BACKLOG);
  return steady(product, receivers, { ...PACE, behavior: { unmeasured: [BEHIND] } });
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
  const snapshot = await openSnapshot(product.benchUrl);
  try {
    return await steady(product, receivers, { perSecond: DUMP_RATE_PER_SECOND, seconds: DUMP_SECONDS });
  } finally {
    await snapshot.end();
  }
}
