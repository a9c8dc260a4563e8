import { SAMPLE_RECORD_IDS } from "@brand-records/resources";
import type { Sql, Statement } from "@brand-records/postgres";
import { TESTS_SECONDS, type ReceiverKey, type RecentTests } from "../domain/receiver.ts";

/** Clocks of processes set created_at, the database's received_at: no more is expected between them. */
const CLOCKS_APART_SECONDS = 300;

/**
 * Begins with the events of the brand's tests, which an index finds by their record: a receiver's deliveries of a minute may be thousands.
 * A test's delivery has a known id. "= any": the ids lead into the primary keys whatever the planner estimates for the rest. The lane has the
 * times at which tests were sent again, whose events may be of any age.
 */
const COUNT: Statement = {
  name: "recent_tests.count",
  text: `
    with sent as materialized (
      select 'dlv' || substr(e.id, 4) as delivery_id, e.received_at from webhook.events e
       where e.brand_id = $1 and e.data ->> 'id' = any($4::text[]) and e.created_at > now() - make_interval(secs => $3 + ${CLOCKS_APART_SECONDS})
         and e.test and e.received_at > now() - make_interval(secs => $3)),
    of_receiver as materialized (
      select d.id from webhook.deliveries d where d.id = any(array(select delivery_id from sent)) and d.receiver_id = $2
      union all
      select p.id from webhook.past_deliveries p
       where p.id = any(array(select delivery_id from sent)) and p.receiver_id = $2
         and p.event_created_at > now() - make_interval(secs => $3 + ${CLOCKS_APART_SECONDS})),
    counted as (
      select sent.received_at as at from of_receiver join sent on sent.delivery_id = of_receiver.id
      union all
      select t.at from webhook.lanes l cross join lateral unnest(l.tests_repeated_at) t(at)
       where l.receiver_id = $2 and t.at > now() - make_interval(secs => $3))
    select count(*) as count, coalesce(extract(epoch from min(at) + make_interval(secs => $3) - now()), 0)::float8 as seconds_left
      from counted`,
};

/**
 * Counts the receiver's tests that are queued, being sent or finished, and each time that one was sent again. Its lane must be locked, by an
 * earlier statement.
 */
export async function recentTests(sql: Sql, { brandId, receiverId }: ReceiverKey): Promise<RecentTests> {
  const [row] = await sql.query<RecentTests>(COUNT, [brandId, receiverId, TESTS_SECONDS, SAMPLE_RECORD_IDS]);
  return row ?? { count: 0, seconds_left: 0 };
}

export const testDeliveryId = (eventId: string): string => `dlv${eventId.slice("evt".length)}`;
