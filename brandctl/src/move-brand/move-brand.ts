import { setTimeout as pause } from "node:timers/promises";
import type { BrandMove } from "@brand-records/proto/accounts/v1";
import { cellText, makeCell } from "../connection/cells.ts";
import { CommandFailure } from "../failure.ts";
import { type Cell, stateIn } from "./cell.ts";
import { checkCells } from "./checks.ts";
import { type Moving, until } from "./moving.ts";
import { compareRecords, countRecords, deleteRecords } from "./records.ts";
import { dropSlots, isReplicating, startReplication, stopReplication, untilInStep } from "./replication.ts";
import { hasSwitched, reopen, reopenSource, switchOver } from "./switch-over.ts";

/** What this run did of a move. */
export interface Moved {
  readonly records: number;
  /** How long writers were refused; undefined if another run switched. */
  readonly closed_ms: number | undefined;
}

export const findMove = async ({ operator }: Pick<Moving, "operator">, brandId: string): Promise<BrandMove | undefined> =>
  (await operator.listBrandMoves({})).moves.find(({ brand_id }) => brand_id === brandId);

/** Begins a move. @throws CommandFailure `not_ready` before anything is changed */
export async function beginMove({ source, target, brandId, operator }: Moving): Promise<BrandMove | undefined> {
  await checkCells(source, target, brandId);
  return (await operator.beginBrandMove({ brand_id: brandId, cell: target.name || null })).move ?? undefined;
}

/** Goes on with a move, from whichever step it is in to its end. Each step can be repeated. */
export async function continueMove(moving: Moving, step: string): Promise<Moved> {
  const { source, target, brandId: brand_id, accounts, operator } = moving;
  let closed_ms: number | undefined;
  if (step !== "clearing") {
    for (const cell of [source, target]) await makeCell(cell, accounts, cell.name);
    if (!(await hasSwitched(moving))) {
      await copy(moving);
      closed_ms = await switchOver(moving);
    }
    await requireArrived(moving);
    await operator.switchBrandMove({ brand_id });
    moving.tell(`The brand is in ${cellText(target.name)}.`);
  }
  return { records: await clear(moving), closed_ms };
}

/** Ends a move that has not switched, and leaves nothing of it. @throws CommandFailure `request_conflict` for another */
export async function abortMove(moving: Moving, step: string): Promise<void> {
  if (step === "clearing" || (await hasSwitched(moving)))
    throw new CommandFailure("request_conflict", `The brand is in ${cellText(moving.target.name)} already.`, {
      hint: "Go on with --resume, and move it back then.",
    });
  await reopen(moving);
  await stopReplication(moving);
  await deleteRecords(moving.target, moving.brandId);
  await moving.operator.endBrandMove({ brand_id: moving.brandId, abort: true });
}

/** What can be done of an abort while the target is away: the source keeps nothing of the move. */
export async function releaseSource(source: Cell, brandId: string): Promise<void> {
  await reopenSource(source, brandId);
  await dropSlots(source, brandId);
}

async function copy(moving: Moving): Promise<void> {
  const { source, target, brandId } = moving;
  await reopen(moving);
  if (!(await isReplicating(moving))) {
    await stopReplication(moving);
    await deleteRecords(target, brandId);
    await startReplication(moving);
  }
  const counts = await countRecords(source, brandId);
  const bar = moving.openBar([...counts.values()].reduce((sum, count) => sum + count, 0));
  await untilInStep(moving, counts, (copied) => bar.update(copied, copied)).finally(() => bar.stop());
  moving.tell("The cells are in step. Comparing.");
  await target.query(
    "analyze records.campaigns, records.submissions, records.payouts, records.deposits, records.conversions, records.links",
  );
  await compareRecords(moving);
}

/** The old cell has the only records if the new one was restored from before the move. */
async function requireArrived({ target, brandId }: Moving): Promise<void> {
  if ((await stateIn(target, brandId))?.state === "open") return;
  throw new CommandFailure("request_conflict", `The brand is not in ${cellText(target.name)} any more: was that database restored?`);
}

/**
 * First what would carry the deletion into the new cell. Then gateways that accounts could not tell must notice: the closed row leads them. A
 * transaction from before finds no record after the deletion, and nothing refuses it.
 */
async function clear(moving: Moving): Promise<number> {
  const { source, brandId: brand_id, operator, signal } = moving;
  const found = await stateIn(source, brand_id);
  if (found !== undefined && found.state !== "closed")
    throw new CommandFailure(
      "request_conflict",
      `The brand is ${found.state} in ${cellText(source.name)}, too: was that database restored?`,
    );
  await requireArrived(moving);
  await stopReplication(moving);
  const settlesMs = (await findMove(moving, brand_id))?.settles_in_ms ?? 0;
  if (settlesMs > 0) moving.tell(`Waiting ${Math.ceil(settlesMs / 1_000)} s for gateways before the old records are deleted.`);
  await pause(settlesMs, undefined, { signal });
  const older = `select from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and xact_start < $1`;
  const [{ now } = {}] = await source.query<{ now: string }>("select clock_timestamp()::text as now");
  await until(Infinity, signal, async () => (await source.query(older, [now])).length === 0);
  const records = await deleteRecords(source, brand_id);
  await source.query("delete from records.brands where brand_id = $1", [brand_id]);
  await operator.endBrandMove({ brand_id, abort: false });
  return records;
}
