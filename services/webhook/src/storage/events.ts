import type { EventType } from "@brand-records/brand-events";
import type { Sql, Statement } from "@brand-records/postgres";

/** An event as it was taken in. */
export interface StoredEvent {
  readonly id: string;
  readonly brand_id: string;
  readonly type: string;
  readonly created_at: string;
  /** Byte for byte what receivers get. */
  readonly data_json: string;
  readonly received_at: string;
}

const COLUMNS = "e.id, e.brand_id, e.type, e.created_at, e.data::text as data_json, e.received_at";

const exists: Statement = {
  name: "events.exists",
  text: "select from webhook.events e where e.brand_id = $1 and e.id = $2 and not e.test",
};

/** One for each of what may be asked for, so that each goes straight to its place along an index. */
function pageStatement(ofType: boolean, after: boolean): Statement {
  const type = ofType ? "and e.type = $3" : "and $3::text is null";
  const position = "(select a.created_at, a.id from webhook.events a where a.brand_id = $1 and a.id = $4 and not a.test limit 1)";
  const from = after ? `and (e.created_at, e.id) < ${position}` : "and $4::text is null";
  return {
    name: `events.page${ofType ? "_of_type" : ""}${after ? "_after" : ""}`,
    text: `select ${COLUMNS} from webhook.events e where e.brand_id = $1 and not e.test ${type} ${from} order by e.created_at desc, e.id desc limit $2`,
  };
}

/** Newest first, without those that somebody made as a test. */
export function pageOfEvents(
  sql: Sql,
  brandId: string,
  { type, afterId, limit }: { readonly type: EventType | null; readonly afterId: string | null; readonly limit: number },
): Promise<StoredEvent[]> {
  return sql.query<StoredEvent>(pageStatement(type !== null, afterId !== null), [brandId, limit, type, afterId]);
}

export async function isEventOf(sql: Sql, brandId: string, id: string): Promise<boolean> {
  return (await sql.query(exists, [brandId, id])).length > 0;
}
