import { AppError } from "@brand-records/errors";
import { unnestRows, type Database, type Statement, type TransactionOptions } from "@brand-records/postgres";
import { BOUND, passDeadEntries } from "./lane-bound.ts";
import { lockLanesToServe, SERVED_LANES_MAX, type LanesToServe, type LaneToServe } from "./lanes-to-serve.ts";
import { lockLanes } from "./lanes.ts";
import { leaveLanesOf } from "./locked-lanes.ts";

/** A delivery that this worker may attempt until its lease ends, with everything the attempt needs. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly receiver_id: string;
  readonly event_id: string;
  readonly event_created_at: string;
  /** The first is 1. */
  readonly attempt: number;
  readonly lease: string;
  readonly test: boolean;
  readonly created_at: string;
  /** It was added with its event, not by a replay. */
  readonly from_intake: boolean;
  /** Null if the event is no longer stored or the receiver was deleted. */
  readonly brand_id: string | null;
  readonly type: string;
  readonly data: string;
  readonly traceparent: string | null;
  readonly url: string;
  readonly secret: Buffer;
  readonly secret_key_id: number;
  readonly next_secret: Buffer | null;
  readonly next_secret_key_id: number | null;
  /** A test to be signed with the next secret alone. */
  readonly sign_with_next: boolean;
  readonly failing: boolean;
}

const ROOMS = unnestRows({ receiver_id: "text", room: "int" }, { after: 1 });

const CLAIM = {
  name: "claims.claim",
  text: `
  with lane as materialized (
    select t.*, b.due as from_due, b.id as from_id
      from ${ROOMS.relation} join webhook.lanes l using (receiver_id) cross join lateral (values ${BOUND}) b(due, id)),
  claimed as materialized (
    select d.id, lane.receiver_id
      from lane cross join lateral (
        select id from webhook.deliveries
         where receiver_id = lane.receiver_id and state = 'pending' and (due_at, id) >= (lane.from_due, lane.from_id) and due_at <= now()
         order by due_at, id
         limit lane.room
           for update skip locked) d),
  counted as (select receiver_id, count(*)::int as n, array_agg(id) as ids from claimed group by receiver_id),
  served as (
    update webhook.lanes l
       set in_flight = l.in_flight + coalesce(lane.n, 0),
           last_served = clock_timestamp(),
           -- The first unclaimed one. The claimed ones are gone for the next claim, which begins here.
           next_due = coalesce(lane.due_at, 'infinity'), bound_due = coalesce(lane.due_at, 'infinity'), bound_id = coalesce(lane.id, '')
      from (select lane.receiver_id, counted.n, next.due_at, next.id
              from lane left join counted using (receiver_id)
              left join lateral (
                select due_at, id from webhook.deliveries
                 where receiver_id = lane.receiver_id and state = 'pending' and (due_at, id) >= (lane.from_due, lane.from_id)
                   and id <> all(coalesce(counted.ids, '{}'))
                 order by due_at, id
                 limit 1) next on true) lane
     where l.receiver_id = lane.receiver_id),
  leased as (
    update webhook.deliveries
       set state = 'sending', attempt = attempt + 1, lease = gen_random_uuid(), lease_until = now() + make_interval(secs => $1)
     where id = any(array(select id from claimed))
    returning id, receiver_id, event_id, event_created_at, attempt, lease, test, sign_with_next, created_at, due_at)
  select d.id, d.receiver_id, d.event_id, d.event_created_at, d.attempt, d.lease, d.test, d.sign_with_next, d.created_at,
         case when r.id is not null then e.brand_id end as brand_id, e.received_at = d.created_at as from_intake, e.type, e.data::text, e.traceparent,
         r.url, r.secret, r.secret_key_id, r.next_secret, r.next_secret_key_id
    from leased d
    left join webhook.events e on e.id = d.event_id and e.created_at = d.event_created_at
    left join webhook.receivers r on r.id = d.receiver_id
   order by d.due_at, d.id`,
} satisfies Statement;

/** A claim takes a few milliseconds. One that walks over many dead index entries must not hold its lanes, for which intake waits. */
const CLAIM_MS_MAX = 200;

export interface ClaimOptions extends Omit<LanesToServe, "take"> {
  readonly leaseSeconds: number;
  readonly claimMsMax?: number;
  /** What this process has room for. Default: everything. */
  readonly room?: {
    take(receiverId: string, wanted: number, behind: boolean): number;
    /** Called before the next try: what this one took is free again. */
    retry(): void;
  };
  /** Called when a try of this many lanes was given up after its time. */
  onSlow?(lanes: number): void;
  /** Called with what was claimed if the response to its commit was lost: its leases may be stored, and nothing else remembers them. */
  onUncertain?(claimed: readonly ClaimedDelivery[]): void;
}

/**
 * Claims due deliveries, a few for each of the receivers that were served longest ago, in the order in which each
 * receiver's are due. Safe to run in any number of processes: a delivery goes to one caller, for `leaseSeconds`.
 *
 * A claim has 200 ms with 16 lanes, then with 8, 4, 2 and 1, and at last as long as it takes with one. A try that was given up has released
 * its locks; the dead entries of its lanes, which made it slow, are then passed without a lock.
 */
export async function claimDeliveries(db: Database, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const { claimMsMax = CLAIM_MS_MAX, onSlow, room } = options;
  for (let lanesMax = SERVED_LANES_MAX; lanesMax >= 1; lanesMax = Math.floor(lanesMax / 2)) {
    const tried: LaneToServe[] = [];
    try {
      return await tryToClaim(db, options, { lanesMax, statementTimeoutMs: claimMsMax, tried });
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== "timeout") throw error;
      onSlow?.(lanesMax);
    }
    // At once: the next try may find the slow lane locked by intake, and would succeed without it each time.
    for (const { receiver_id } of tried) await passDeadEntries(db, receiver_id);
    room?.retry();
  }
  return tryToClaim(db, options, { lanesMax: 1 });
}

interface Try extends TransactionOptions {
  readonly lanesMax: number;
  readonly tried?: LaneToServe[];
}

/**
 * Takes two statements: the second needs a snapshot taken after the lanes are locked. Otherwise it could miss a delivery
 * committed in between, and mark its lane as empty.
 */
async function tryToClaim(
  db: Database,
  { leaseSeconds, max, failing, behind, except, room, onUncertain }: ClaimOptions,
  { lanesMax, tried = [], ...limit }: Try,
): Promise<ClaimedDelivery[]> {
  let claimed: ClaimedDelivery[] = [];
  try {
    return await db.transaction(
      async (sql) => {
        const take = room && ((receiverId: string, wanted: number, isBehind: boolean) => room.take(receiverId, wanted, isBehind));
        const lanes = await lockLanesToServe(sql, { max, failing, behind, except, lanesMax, take });
        tried.push(...lanes);
        if (lanes.length === 0) return [];
        const rooms = lanes.map((lane) => ({ receiver_id: lane.receiver_id, room: lane.room }));
        const failingIds = new Set(lanes.filter((lane) => lane.failing).map(({ receiver_id }) => receiver_id));
        claimed = await sql.query<ClaimedDelivery>(CLAIM, [leaseSeconds, ...ROOMS.values(rooms)]);
        return claimed.map((delivery) => Object.assign(delivery, { failing: failingIds.has(delivery.receiver_id) }));
      },
      { ...limit, locksFirst: true },
    );
  } catch (error) {
    if (claimed.length > 0) onUncertain?.(claimed);
    throw error;
  }
}

const LEASES = unnestRows({ id: "text", lease: "uuid" });

const RETURN = `
  with returned as (
    update webhook.deliveries d set state = 'pending', attempt = d.attempt - 1, lease = null, lease_until = null
      from ${LEASES.relation}
     where d.id = any(${LEASES.arrays.id}) and d.id = t.id and d.lease = t.lease returning d.receiver_id, d.due_at)
  ${leaveLanesOf("returned", "min(due_at)")}`;

const ABANDON = `
  with abandoned as (
    delete from webhook.deliveries d using ${LEASES.relation}
     where d.id = any(${LEASES.arrays.id}) and d.id = t.id and d.lease = t.lease returning d.receiver_id)
  ${leaveLanesOf("abandoned")}`;

type Claim = Pick<ClaimedDelivery, "id" | "receiver_id" | "lease">;

/** Returns claims for which no request was sent: they are due again, and the attempt does not count. */
export const returnClaims = (db: Database, claims: readonly Claim[]): Promise<void> => changeClaims(db, RETURN, claims);

/** Removes deliveries that cannot be sent: their event is no longer stored or their receiver was deleted. */
export const abandonDeliveries = (db: Database, claims: readonly Claim[]): Promise<void> => changeClaims(db, ABANDON, claims);

async function changeClaims(db: Database, statement: string, claims: readonly Claim[]): Promise<void> {
  await db.transaction(async (sql) => {
    await lockLanes(
      sql,
      claims.map(({ receiver_id }) => receiver_id),
    );
    await sql.query(statement, LEASES.values(claims.map(({ id, lease }) => ({ id, lease }))));
  });
}

/**
 * For the connections of intake and sending: prepared statements are planned once for each connection, and find each row by its index.
 *
 * Planning takes longer than these statements do with a few deliveries, because a plan names every partition. Left to itself, a plan that was
 * made while the tables were small scans them when they are not.
 */
export const BY_INDEX = {
  settings: {
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    enable_bitmapscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off",
  },
} as const;
