import { cellText } from "../connection/cells.ts";
import { CommandFailure } from "../failure.ts";
import type { Cell } from "./cell.ts";

const ROLE = "(select r from pg_roles r where r.rolname = current_user)";

const OF_BOTH = `
  (current_setting('server_version_num')::int < 150000, 'it is older than Postgres 15'),
  (not pg_has_role((select nspowner from pg_namespace where nspname = 'records'), 'usage'), 'the login does not own the schema records'),
  (not has_database_privilege(current_database(), 'create'), 'the login lacks CREATE on the database')`;

/** A slot for the changes, and two for the tables that are copied. An old event would keep the brand closed for too long. */
const OF_SOURCE = `${OF_BOTH},
  (current_setting('wal_level') <> 'logical', 'wal_level is not logical'),
  (not ((${ROLE}).rolsuper or (${ROLE}).rolreplication), 'the login lacks REPLICATION'),
  (not pg_has_role('pg_read_all_stats', 'usage'), 'the login lacks the role pg_read_all_stats'),
  ((select count(*) from pg_replication_slots) + 3 > current_setting('max_replication_slots')::int, 'it has less than three free replication slots'),
  ((select clock_timestamp() - (payload->>'created_at')::timestamptz from records.outbox order by seq limit 1) > interval '15 s',
   'its outbox is behind: does its relay run?')`;

const OF_TARGET = `${OF_BOTH},
  (not ((${ROLE}).rolsuper or exists (select from pg_roles r where r.rolname = 'pg_create_subscription' and pg_has_role(r.oid, 'usage'))),
   'the login may not make subscriptions: it lacks the role pg_create_subscription'),
  (exists (select from records.brands where brand_id = $1), 'it has the brand already')`;

/** @throws CommandFailure that lists why the brand cannot be moved */
export async function checkCells(source: Cell, target: Cell, brandId: string): Promise<void> {
  const problems = [...(await problemsOf(source, OF_SOURCE)), ...(await problemsOf(target, OF_TARGET, [brandId]))];
  const [from, to] = [await versionOf(source), await versionOf(target)];
  if (from !== to) problems.push(`the cells have versions ${from} and ${to} of the schema: update records in both`);
  if (problems.length > 0) throw new CommandFailure("not_ready", `Nothing was moved:\n  ${problems.join("\n  ")}`);
}

async function problemsOf(cell: Cell, conditions: string, values: readonly string[] = []): Promise<string[]> {
  const found = await cell.query<{ problem: string }>(
    `select problem from (values ${conditions}) c (applies, problem) where applies`,
    values,
  );
  return found.map(({ problem }) => `${cellText(cell.name)}: ${problem}`);
}

const versionOf = async (cell: Cell): Promise<number | undefined> =>
  (await cell.query<{ version: number }>("select max(version) as version from records.schema_migrations"))[0]?.version;
