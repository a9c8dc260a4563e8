import type { Database, Sql } from "@brand-records/postgres";
import { CommandFailure } from "../failure.ts";
import { companionsOf, resourceOf } from "./status-rules.ts";

export interface StatusChange {
  readonly kind: string;
  readonly id: string;
  /** Undefined: the one brand that has a record with this id. */
  readonly brandId: string | undefined;
  readonly status: string;
  /** The reason, for a status that takes one. */
  readonly code: string | undefined;
  readonly traceparent: string | undefined;
}

export interface StatusChanged {
  readonly brandId: string;
  readonly previous: string;
  /** False: it had the status already. */
  readonly changed: boolean;
}

/**
 * Changes a record's status as the platform would: plain SQL, one transaction. The record is locked from the read of its
 * status to the change.
 *
 * @throws CommandFailure when no record or several have the id, or the status cannot follow the current one
 */
export function changeStatus(db: Database, change: StatusChange): Promise<StatusChanged> {
  return db.transaction(async (sql) => {
    const { brandId, status: previous } = await findRecord(sql, change);
    if (previous === change.status) return { brandId, previous, changed: false };
    await requireTransition(sql, change, brandId, previous);
    // The login may have events off, for imports; a change of one record is meant to make its event.
    await sql.query("set local brand_records.events = on");
    if (change.traceparent !== undefined) {
      await sql.query("select set_config('brand_records.traceparent', $1, true)", [change.traceparent]);
    }
    await writeStatus(sql, change, brandId);
    return { brandId, previous, changed: true };
  });
}

/** Brands that a message names. */
const BRANDS_SHOWN_MAX = 10;

async function findRecord(sql: Sql, { kind, id, brandId }: StatusChange): Promise<{ brandId: string; status: string }> {
  const resource = resourceOf(kind);
  const records = await sql.query<{ brandId: string; status: string }>(
    `select brand_id as "brandId", status from records.${resource}
      where id = $1 ${brandId === undefined ? "" : "and brand_id = $2"} and records.is_here(brand_id) order by brand_id limit ${BRANDS_SHOWN_MAX + 1} for update`,
    brandId === undefined ? [id] : [id, brandId],
  );
  const [record, ...others] = records;
  if (record === undefined) {
    const owner = brandId === undefined ? "No brand has" : `The brand ${brandId} does not have`;
    throw new CommandFailure("not_found", `${owner} a ${kind} with the id ${id}.`, {
      hint: `GET /api/v1/${resource} with a key of the brand lists its ${resource}${brandId === undefined ? "" : "; without --brand, all brands are searched"}`,
    });
  }
  if (others.length > 0) {
    const shown = records.slice(0, BRANDS_SHOWN_MAX).map((other) => other.brandId);
    const more = records.length > BRANDS_SHOWN_MAX ? ", and others" : "";
    throw new CommandFailure("ambiguous_id", `Several brands have a ${kind} with the id ${id}: ${shown.join(", ")}${more}.`, {
      hint: "Name one with --brand",
    });
  }
  return record;
}

/** The database refuses it too, but does not say which statuses may follow. */
async function requireTransition(sql: Sql, { kind, id, status }: StatusChange, brandId: string, previous: string): Promise<void> {
  const rows = await sql.query<{ to: string }>(
    `select to_status as "to" from records.status_transitions where resource = $1 and from_status = $2 order by to_status`,
    [resourceOf(kind), previous],
  );
  const followers = rows.map(({ to }) => to);
  if (followers.includes(status)) return;
  const next = followers.length === 0 ? `${previous} is final` : `it can become ${followers.join(", ")}`;
  throw new CommandFailure("invalid_transition", `The ${kind} ${id} of ${brandId} is ${previous} and cannot become ${status}: ${next}.`, {
    hint: "docs/platform.md lists the transitions",
  });
}

async function writeStatus(sql: Sql, { kind, id, status, code }: StatusChange, brandId: string): Promise<void> {
  const values: unknown[] = [brandId, id, status];
  const sets = Object.entries(companionsOf(kind, status)).map(([column, expression]) => {
    if (expression !== "code") return `${column} = ${expression}`;
    return `${column} = $${values.push(code)}`;
  });
  await sql.query(`update records.${resourceOf(kind)} set ${["status = $3", ...sets].join(", ")} where brand_id = $1 and id = $2`, values);
}
