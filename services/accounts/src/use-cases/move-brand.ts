import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import { brandNotFound } from "../domain/brand.ts";
import { deleteMove, findMove, insertMove, listMoves, setMoveClearing, type BrandMove } from "../storage/brand-moves.ts";
import { lockBrand, setCell } from "../storage/brands.ts";
import { type BrandChangeDependencies, changeBrand } from "./brands.ts";

/** @throws AppError `not_found`; `request_conflict` if the brand is in that cell, or moves to another */
export const beginBrandMove = (db: Database, brandId: string, to: string | null, record: RecordChange): Promise<BrandMove> =>
  db.transaction(async (sql) => {
    const brand = await lockBrand(sql, brandId);
    if (brand === undefined) throw brandNotFound();
    const move = await findMove(sql, brandId);
    if (move?.to_cell === to) return move;
    if (move !== undefined) throw moves("The brand is being moved to another cell");
    if (brand.cell === to) throw new AppError("request_conflict", "The brand is in this cell already", { field: "cell" });
    await record(sql);
    return insertMove(sql, brandId, brand.cell, to);
  });

/** Which move a call is about: a brand may have moved again since. */
interface MoveId {
  readonly brand_id: string;
  readonly started_at: string;
}

/**
 * Says that the new cell has the brand's records from now on: gateways ask that one from their next request on.
 *
 * @throws AppError `not_found`; `request_conflict` if this move has ended
 */
export const switchBrandMove = (deps: BrandChangeDependencies, { brand_id, started_at }: MoveId, record: RecordChange): Promise<unknown> =>
  changeBrand(deps, brand_id, async (sql) => {
    const move = await findMove(sql, brand_id);
    if (move?.started_at !== started_at) throw moves("This move has ended");
    if (move.step === "clearing") return;
    await record(sql);
    await setMoveClearing(sql, brand_id);
    await setCell(sql, brand_id, move.to_cell);
  });

/** @throws AppError `request_conflict` for another move, before the step clearing, and with `abort` from then on */
export const endBrandMove = (db: Database, { brand_id, started_at }: MoveId, abort: boolean, record: RecordChange): Promise<void> =>
  db.transaction(async (sql) => {
    await lockBrand(sql, brand_id);
    const move = await findMove(sql, brand_id);
    if (move === undefined) return;
    if (move.started_at !== started_at) throw moves("This move has ended, and another has begun");
    if ((move.step === "clearing") === abort)
      throw moves(abort ? "The brand is in its new cell already" : "The brand is still being moved");
    if (abort) await record(sql);
    await deleteMove(sql, brand_id);
  });

/** @throws AppError `request_conflict` */
export async function requireUnmoved(sql: Sql, brandId: string): Promise<void> {
  if ((await findMove(sql, brandId)) !== undefined) throw moves("The brand is being moved: wait for the end, or abort the move");
}

/** Returns the moves that have not ended, oldest first. */
export const listBrandMoves = (sql: Sql): Promise<BrandMove[]> => listMoves(sql);

const moves = (message: string): AppError => new AppError("request_conflict", message, { field: "brand_id" });
