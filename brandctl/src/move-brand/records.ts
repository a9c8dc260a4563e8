import { RESOURCE_NAMES } from "@brand-records/resources";
import { CommandFailure } from "../failure.ts";
import type { Cell } from "./cell.ts";
import { isCaughtUp } from "./replication.ts";
import type { Moving } from "./moving.ts";

const BATCH_ROWS = 2_000;
/** Parts of a table that are compared: one in which a record is changing at the moment is compared again. */
const PARTS = 256;
const COMPARISONS_MAX = 50;

/** Returns how many records a brand has, by resource. */
export async function countRecords(cell: Cell, brandId: string): Promise<ReadonlyMap<string, number>> {
  const counts = RESOURCE_NAMES.map((name) => `select '${name}' as name, count(*) as rows from records.${name} where brand_id = $1`);
  const rows = await cell.query<{ name: string; rows: number }>(counts.join(" union all "), [brandId]);
  return new Map(rows.map(({ name, rows: count }) => [name, count]));
}

/** Returns when a record of the brand changed last; undefined if there is none. */
export async function lastChangeIn(cell: Cell, brandId: string): Promise<string | undefined> {
  const changes = RESOURCE_NAMES.map((name) => `select max(updated_at) as at from records.${name} where brand_id = $1`);
  const [row] = await cell.query<{ at: string | null }>(`select max(at) as at from (${changes.join(" union all ")}) change`, [brandId]);
  return row?.at ?? undefined;
}

/** Compares the brand's records by hashes. @throws CommandFailure `records_differ` */
export async function compareRecords(moving: Moving): Promise<void> {
  for (const table of RESOURCE_NAMES) {
    let differing = await differingParts(moving, table);
    for (let tries = 1; differing.length > 0 && tries < COMPARISONS_MAX; tries += 1) {
      await isCaughtUp(moving, performance.now() + 1_000);
      differing = await differingParts(moving, table, differing);
    }
    const hint =
      "Records were written in the new cell (docs/operations.md#a-cell), replication fails (its server's log says so), or one changes all the time.";
    if (differing.length > 0) throw new CommandFailure("records_differ", `The ${table} differ. The brand stays where it is.`, { hint });
  }
}

/** Returns the parts of a table that the cells have differently. @param among default: all */
async function differingParts({ source, target, brandId }: Moving, table: string, among?: readonly number[]): Promise<number[]> {
  const part = `hashtext(id) & ${PARTS - 1}`;
  const statement = `select ${part} as part, count(*) || ' ' || sum(hashtextextended(t::text, 0)) as hash
     from records.${table} t where brand_id = $1 and ($2::int[] is null or ${part} = any($2)) group by 1`;
  const read = async (cell: Cell) => {
    const rows = await cell.query<{ part: number; hash: string }>(statement, [brandId, among ?? null]);
    return new Map(rows.map(({ part, hash }) => [part, hash]));
  };
  const [ours, theirs] = await Promise.all([read(source), read(target)]);
  return [...new Set([...ours.keys(), ...theirs.keys()])].filter((part) => ours.get(part) !== theirs.get(part));
}

/** Deletes a brand's records in a cell that does not serve it, in batches. @returns how many */
export async function deleteRecords(cell: Cell, brandId: string): Promise<number> {
  let total = 0;
  for (const table of RESOURCE_NAMES) {
    const statement = `with gone as (
         delete from records.${table} where brand_id = $1 and id = any(array(
           select id from records.${table} where brand_id = $1 and id > $2 order by id limit ${BATCH_ROWS}))
            and not exists (select from records.brands b where b.brand_id = $1 and b.state <> 'closed') returning id)
       select count(*) as rows, max(id) as last_id from gone`;
    for (let after: string | null = ""; after !== null;) {
      const [row]: { rows: number; last_id: string | null }[] = await cell.query(statement, [brandId, after]);
      total += row?.rows ?? 0;
      after = row?.last_id ?? null;
    }
  }
  return total;
}
