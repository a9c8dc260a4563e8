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

/**
 * Says that the new cell has the brand's records from now on: gateways ask that one from their next request on.
 *
 * @throws AppError `not_found`; `request_conflict` if the brand does not move
 */
export const switchBrandMove = (deps: BrandChangeDependencies, brandId: string, record: RecordChange): Promise<unknown> =>
  changeBrand(deps, brandId, async (sql) => {
    const move = await findMove(sql, brandId);
    if (move === undefined) throw moves("The brand is not being moved");
    if (move.step === "clearing") return;
    await record(sql);
    await setMoveClearing(sql, brandId);
    await setCell(sql, brandId, move.to_cell);
  });

/** @throws AppError `request_conflict` before the step clearing, and with `abort` from then on */
export const endBrandMove = (db: Database, brandId: string, abort: boolean, record: RecordChange): Promise<void> =>
  db.transaction(async (sql) => {
    await lockBrand(sql, brandId);
    const isDeleted = await deleteMove(sql, brandId, !abort);
    if (isDeleted && abort) await record(sql);
    if (!isDeleted && (await findMove(sql, brandId)) !== undefined)
      throw moves(abort ? "The brand is in its new cell already" : "The brand is still being moved");
  });

/** @throws AppError `request_conflict` */
export async function requireUnmoved(sql: Sql, brandId: string): Promise<void> {
  if ((await findMove(sql, brandId)) !== undefined) throw moves("The brand is being moved: wait for the end, or abort the move");
}

/** Returns the moves that have not ended, oldest first. */
export const listBrandMoves = (sql: Sql): Promise<BrandMove[]> => listMoves(sql);

const moves = (message: string): AppError => new AppError("request_conflict", message, { field: "brand_id" });
