import { firstOf, onlyOf, statementsOf, type Sql } from "@brand-records/postgres";
import type * as messages from "@brand-records/proto/accounts/v1";
import type { RowOf } from "@brand-records/proto/rows";

const COLUMNS = "brand_id, from_cell, to_cell, step, started_at";

/** Whoever changes a move has locked the brand. */
const statements = statementsOf("brand_moves", {
  insert: `insert into accounts.brand_moves (brand_id, from_cell, to_cell) values ($1, $2, $3) returning ${COLUMNS}`,
  find: `select ${COLUMNS} from accounts.brand_moves where brand_id = $1`,
  list: `select ${COLUMNS} from accounts.brand_moves order by started_at, brand_id`,
  setClearing: "update accounts.brand_moves set step = 'clearing' where brand_id = $1",
  delete: "delete from accounts.brand_moves where brand_id = $1",
});

export type BrandMove = RowOf<messages.BrandMove, { readonly step: "copying" | "clearing" }>;

export const insertMove = (sql: Sql, brandId: string, from: string | null, to: string | null): Promise<BrandMove> =>
  onlyOf(sql.query<BrandMove>(statements.insert, [brandId, from, to]));

export const findMove = (sql: Sql, brandId: string): Promise<BrandMove | undefined> =>
  firstOf(sql.query<BrandMove>(statements.find, [brandId]));

export const listMoves = (sql: Sql): Promise<BrandMove[]> => sql.query<BrandMove>(statements.list);

export const setMoveClearing = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.setClearing, [brandId]);

export const deleteMove = (sql: Sql, brandId: string): Promise<unknown> => sql.query(statements.delete, [brandId]);
