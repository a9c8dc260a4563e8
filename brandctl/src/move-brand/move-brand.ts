import type { BrandMove } from "@brand-records/proto/accounts/v1";
import { cellText, makeCell } from "../connection/cells.ts";
import { CommandFailure, required } from "../failure.ts";
import { type Cell, stateIn } from "./cell.ts";
import { checkCells } from "./checks.ts";
import type { Moving } from "./moving.ts";
import { compareRecords, countRecords, deleteRecords, lastChangeIn } from "./records.ts";
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
export async function beginMove({ source, target, brandId, operator }: Moving): Promise<BrandMove> {
  await checkCells(source, target, brandId);
  return required((await operator.beginBrandMove({ brand_id: brandId, cell: target.name || null })).move, "move");
}

/** Goes on with a move, from whichever step it is in to its end. Each step can be repeated. */
export async function continueMove(moving: Moving, { step, started_at }: BrandMove): Promise<Moved> {
  const { source, target, brandId: brand_id, accounts, operator } = moving;
  let closed_ms: number | undefined;
  if (step !== "clearing") {
    for (const cell of [source, target]) await makeCell(cell, accounts, cell.name);
    if (!(await hasSwitched(moving))) {
      await copy(moving);
      closed_ms = await switchOver(moving);
    }
    await requireArrived(moving);
    await operator.switchBrandMove({ brand_id, started_at });
    moving.tell(`The brand is in ${cellText(target.name)}.`);
  }
  const records = await clear(moving);
  await operator.endBrandMove({ brand_id, started_at, abort: false });
  return { records, closed_ms };
}

/**
 * Ends a move that has not switched, and leaves nothing of it but two cells. The source first: the target may be too full for any change, and
 * the slot fills the source's disk.
 *
 * @throws CommandFailure `request_conflict` if it has switched
 */
export async function abortMove(moving: Moving, { step, started_at }: BrandMove): Promise<void> {
  const { source, target, brandId: brand_id } = moving;
  if (step === "clearing" || (await hasSwitched(moving)))
    throw new CommandFailure("request_conflict", `The brand is in ${cellText(target.name)} already.`, {
      hint: "Go on with --resume, and move it back then.",
    });
  await requireUnwritten(moving);
  await releaseSource(source, brand_id);
  await reopen(moving);
  await stopReplication(moving);
  await deleteRecords(target, brand_id);
  await moving.operator.endBrandMove({ brand_id, started_at, abort: true });
}

/** What can be done of an abort while the target is away: the source keeps nothing of the move but slots of tables that are being copied. */
export async function releaseSource(source: Cell, brandId: string): Promise<void> {
  await reopenSource(source, brandId);
  await dropSlots(source, brandId);
}

async function copy(moving: Moving): Promise<void> {
  const { source, target, brandId } = moving;
  await requireUnwritten(moving);
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

/** A target that was open before the source was restored has the only copy of what was written there. */
async function requireUnwritten(moving: Moving): Promise<void> {
  const { source, target, brandId } = moving;
  if ((await stateIn(target, brandId)) === undefined) return;
  if (await isReplicating(moving)) return compareRecords(moving);
  const [after = "", before = ""] = [await lastChangeIn(target, brandId), await lastChangeIn(source, brandId)];
  if (after <= before) return;
  throw new CommandFailure(
    "request_conflict",
    `The brand was written in ${cellText(target.name)} after ${cellText(source.name)}: was that database restored?`,
    { hint: "docs/operations.md#a-cell" },
  );
}

/** First ends what would carry the deletion into the new cell. The brand's row goes last: until then it leads to the new cell. */
async function clear(moving: Moving): Promise<number> {
  const { source, brandId: brand_id } = moving;
  const found = await stateIn(source, brand_id);
  if (found !== undefined && found.state !== "closed")
    throw new CommandFailure(
      "request_conflict",
      `The brand is ${found.state} in ${cellText(source.name)}, too: was that database restored?`,
    );
  await requireArrived(moving);
  await stopReplication(moving);
  const records = await deleteRecords(source, brand_id);
  await source.query("delete from records.brands where brand_id = $1", [brand_id]);
  return records;
}
