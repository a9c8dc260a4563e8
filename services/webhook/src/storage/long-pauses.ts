import type { Sql } from "@brand-records/postgres";

/** An enabled receiver behind an open circuit, of which the last success is long ago. */
export interface LongPause {
  readonly receiver_id: string;
  readonly brand_id: string;
  /** The first failure since the last success. */
  readonly failing_since: string;
}

/** More in one hour is a failure of ours, which alerts report. */
const LONG_PAUSES_MAX = 1_000;

/** Receivers that have only failed for an hour, and are paused. One scan of the lanes. */
export function longPauses(sql: Sql): Promise<LongPause[]> {
  return sql.query({
    name: "long pauses",
    text: `
      select l.receiver_id, r.brand_id, l.first_failure_at as failing_since
        from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id
       where not l.held and l.trips > 0 and l.first_failure_at <= now() - interval '1 hour'
       order by l.first_failure_at desc limit ${LONG_PAUSES_MAX}`,
  });
}
