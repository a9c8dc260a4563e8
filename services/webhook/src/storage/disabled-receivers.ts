import type { Sql } from "@brand-records/postgres";

/** A receiver that the service has disabled itself. */
export interface DisabledReceiver {
  readonly receiver_id: string;
  readonly brand_id: string;
  readonly reason: "gone" | "failing";
  readonly disabled_at: string;
}

/** More in one day is a failure of ours, which alerts report. */
const DISABLED_MAX = 1_000;

/** Receivers that the service has disabled in the last day, and that are still disabled. One scan of the receivers. */
export function disabledToday(sql: Sql): Promise<DisabledReceiver[]> {
  return sql.query({
    name: "disabled today",
    text: `
      select id as receiver_id, brand_id, disabled_reason as reason, disabled_at
        from webhook.receivers
       where disabled_reason in ('gone', 'failing') and disabled_at > now() - interval '1 day'
       order by disabled_at desc limit ${DISABLED_MAX}`,
  });
}
