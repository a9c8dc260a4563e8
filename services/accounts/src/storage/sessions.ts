import { countOf, firstOf, onlyOf, statementsOf, type Sql } from "@brand-records/postgres";
import type { Membership } from "../domain/brand.ts";
import type { Session, SessionLimits } from "../domain/session.ts";
import type { LinkScope } from "../domain/sign-in.ts";
import { MEMBERSHIP_COLUMNS, MEMBERSHIP_ORDER } from "./members.ts";
import { oldRowsOf } from "./row-deletions.ts";

/** Seconds: $2 is idle, $3 in all. */
const IS_VALID = `s.last_used_at > now() - make_interval(secs => $2) and s.created_at > now() - make_interval(secs => $3)`;

/**
 * SQL of whether the audit log of a membership `m` tells of the session `s`. Accounts 1.0 has written its beginning into the log of each brand
 * in which the person was then.
 */
const IS_OPENED = `((s.told_everyone and m.created_at <= s.created_at)
  or exists(select from accounts.session_brands o where o.token_hash = s.token_hash and o.brand_id = m.brand_id))`;

/** SQL of the brands that a session `s` has opened, of those in which the person still is. */
const OPENED = `array(
  select m.brand_id from accounts.members m
   where m.email = s.email and (s.brand_id is null or m.brand_id = s.brand_id) and ${IS_OPENED}) as opened`;

const statements = statementsOf("sessions", {
  insert: `insert into accounts.sessions (token_hash, email, issuer, brand_id, made_by, told_everyone) values ($1, $2, $3, $5, $6, false)
           returning created_at + make_interval(secs => $4) as ends_at`,
  // One statement for session and memberships, so that a removal takes effect with the next call. idle_ends_at is as after the touch.
  find: `select s.email, s.issuer, s.brand_id as only_brand_id, s.made_by, s.created_at, s.created_at + make_interval(secs => $3) as ends_at, is_touch_due,
                  least(case when is_touch_due then now() else s.last_used_at end + make_interval(secs => $2),
                        s.created_at + make_interval(secs => $3)) as idle_ends_at,
                  ${IS_OPENED} as is_opened,
                  ${MEMBERSHIP_COLUMNS}
             from accounts.sessions s cross join lateral (select s.last_used_at < now() - make_interval(secs => $4) as is_touch_due) t
             join accounts.members m on m.email = s.email and (s.brand_id is null or m.brand_id = s.brand_id) join accounts.brands b on b.id = m.brand_id
            where s.token_hash = $1 and ${IS_VALID} order by ${MEMBERSHIP_ORDER}`,
  touch: `update accounts.sessions s set last_used_at = now()
            where s.token_hash = $1 and ${IS_VALID} and s.last_used_at < now() - make_interval(secs => $4)`,
  noteOpened: `with opened as (
             insert into accounts.session_brands (token_hash, brand_id)
             select token_hash, $2 from accounts.sessions where token_hash = $1 for key share on conflict do nothing returning brand_id),
           ever as (update accounts.members m set has_opened = true from opened o where m.brand_id = o.brand_id and m.email = $3 and not m.has_opened)
           select from opened`,
  delete: `delete from accounts.sessions s where token_hash = $1 returning email, made_by, ${OPENED}`,
  deleteOf: `delete from accounts.sessions s where email = $1 and ($2::text is null or brand_id = $2) returning ${OPENED}`,
  deleteMadeBy: "delete from accounts.sessions where brand_id = $1 and made_by = $2",
  deleteAny: `delete from accounts.sessions where token_hash = any(array(select token_hash from accounts.sessions limit $1)) returning 1`,
});

/** Returns when the session ends at the latest. */
export async function insertSession(
  sql: Sql,
  session: Pick<Session, "email" | "issuer"> & { readonly tokenHash: Buffer; readonly scope: LinkScope | null },
  { maxSeconds }: SessionLimits,
): Promise<string> {
  const { tokenHash, email, issuer, scope } = session;
  const values = [tokenHash, email, issuer, maxSeconds, scope?.brandId ?? null, scope?.madeBy ?? null];
  return (await onlyOf(sql.query<{ ends_at: string }>(statements.insert, values))).ends_at;
}

export interface FoundSession {
  readonly session: Session;
  /** One or more. */
  readonly memberships: readonly Membership[];
  /** The brands whose audit log tells of the session. */
  readonly opened: ReadonlySet<string>;
  readonly isTouchDue: boolean;
}

type SessionRow = Omit<Session, "brand_id"> &
  Membership & { readonly only_brand_id: string | null; readonly is_touch_due: boolean; readonly is_opened: boolean };

/** Returns a session that has not expired, with those memberships of the same moment that it opens; undefined without any. */
export async function findSession(
  sql: Sql,
  tokenHash: Buffer,
  { idleSeconds, maxSeconds }: SessionLimits,
  touchSeconds: number,
): Promise<FoundSession | undefined> {
  const rows = await sql.query<SessionRow>(statements.find, [tokenHash, idleSeconds, maxSeconds, touchSeconds]);
  const [first] = rows;
  if (first === undefined) return undefined;
  const { email, issuer, only_brand_id, made_by, created_at, idle_ends_at, ends_at, is_touch_due } = first;
  return {
    session: { email, issuer, brand_id: only_brand_id, made_by, created_at, idle_ends_at, ends_at },
    memberships: rows.map(({ brand_id, brand_name, tier, verified, role }) => ({ brand_id, brand_name, tier, verified, role })),
    opened: new Set(rows.filter(({ is_opened }) => is_opened).map(({ brand_id }) => brand_id)),
    isTouchDue: is_touch_due,
  };
}

/** Records a use, once per `touchSeconds` however many processes call it. Revives no session that has expired or ended. */
export const touchSession = (
  sql: Sql,
  tokenHash: Buffer,
  { idleSeconds, maxSeconds }: SessionLimits,
  touchSeconds: number,
): Promise<unknown> => sql.query(statements.touch, [tokenHash, idleSeconds, maxSeconds, touchSeconds]);

/** Notes that a session opens a brand of the person. Returns whether it does for the first time. */
export const noteOpened = async (sql: Sql, tokenHash: Buffer, brandId: string, email: string): Promise<boolean> =>
  (await countOf(sql.query(statements.noteOpened, [tokenHash, brandId, email]))) > 0;

/** A session that has ended, and the brands that it had opened. */
export type EndedSession = Pick<Session, "email" | "made_by"> & { readonly opened: readonly string[] };

/** Returns undefined if there was none. */
export const deleteSession = (sql: Sql, tokenHash: Buffer): Promise<EndedSession | undefined> =>
  firstOf(sql.query<EndedSession>(statements.delete, [tokenHash]));

/** Deletes a person's sessions: all of them, or those that open this brand alone. Returns what each had opened. */
export const deleteSessionsOf = (sql: Sql, email: string, brandId: string | null = null): Promise<Pick<EndedSession, "opened">[]> =>
  sql.query<EndedSession>(statements.deleteOf, [email, brandId]);

/** Deletes the sessions that links of a member opened in a brand. */
export const deleteSessionsMadeBy = (sql: Sql, brandId: string, madeBy: string): Promise<unknown> =>
  sql.query(statements.deleteMadeBy, [brandId, madeBy]);

/** Deletes up to `limit` sessions, of anyone. Returns how many. */
export const deleteAnySessions = (sql: Sql, limit: number): Promise<number> => countOf(sql.query(statements.deleteAny, [limit]));

/** Deletes sessions that ended by age, after a number of seconds; those that expired for lack of use follow then. */
export const deleteOldSessions = oldRowsOf("sessions", "created_at <= now() - make_interval(secs => $1)");
