import { type Sql, statementsOf } from "@brand-records/postgres";
import { IS_LONG_PAUSED } from "./lanes.ts";

/** A receiver that the service has disabled itself. */
export interface DisabledReceiver {
  readonly receiver_id: string;
  readonly brand_id: string;
  readonly reason: "gone" | "failing";
  readonly disabled_at: string;
}

/** An enabled receiver behind an open circuit, of which the last success is long ago. */
export interface LongPause {
  readonly receiver_id: string;
  readonly brand_id: string;
  readonly failing_since: string;
}

/** More of a kind in one day or hour are a failure of ours, which alerts report. */
const NOTICES_MAX = 1_000;

const statements = statementsOf("notices", {
  /** One scan of the receivers. */
  disabledToday: `select id as receiver_id, brand_id, disabled_reason as reason, disabled_at
             from webhook.receivers
            where disabled_reason in ('gone', 'failing') and disabled_at > now() - interval '1 day'
            order by disabled_at desc limit ${NOTICES_MAX}`,
  /** One scan of the lanes. */
  longPauses: `select l.receiver_id, r.brand_id, l.first_failure_at as failing_since
             from webhook.lanes l join webhook.receivers r on r.id = l.receiver_id
            where ${IS_LONG_PAUSED}
            order by l.first_failure_at desc limit ${NOTICES_MAX}`,
});

/** Receivers that the service has disabled in the last day, and that are still disabled. */
export const disabledToday = (sql: Sql): Promise<DisabledReceiver[]> => sql.query(statements.disabledToday);

/** Receivers that have only failed for an hour, and are paused. */
export const longPauses = (sql: Sql): Promise<LongPause[]> => sql.query(statements.longPauses);
