import type { Sql, Statement } from "@brand-records/postgres";
import type { Membership } from "../domain/brand.ts";
import type { Session, SessionLimits } from "../domain/session.ts";
import type { LinkScope } from "../domain/sign-in.ts";
import { MEMBERSHIP_COLUMNS, MEMBERSHIP_ORDER } from "./members.ts";
import { countOf, firstOf, onlyOf } from "./rows.ts";

/** Seconds: $2 is idle, $3 in all. */
const IS_VALID = `s.last_used_at > now() - make_interval(secs => $2) and s.created_at > now() - make_interval(secs => $3)`;

const statements = {
  insert: {
    name: "sessions.insert",
    text: `insert into accounts.sessions (token_hash, email, issuer, brand_id, made_by) values ($1, $2, $3, $5, $6)
           returning created_at + make_interval(secs => $4) as ends_at`,
  },
  // One statement for session and memberships, so that a removal takes effect with the next call. idle_ends_at is as after the touch.
  find: {
    name: "sessions.find",
    text: `select s.email, s.issuer, s.brand_id as only_brand_id, s.made_by, s.created_at, s.created_at + make_interval(secs => $3) as ends_at, is_touch_due,
                  least(case when is_touch_due then now() else s.last_used_at end + make_interval(secs => $2),
                        s.created_at + make_interval(secs => $3)) as idle_ends_at, ${MEMBERSHIP_COLUMNS}
             from accounts.sessions s cross join lateral (select s.last_used_at < now() - make_interval(secs => $4) as is_touch_due) t
             join accounts.members m on m.email = s.email and (s.brand_id is null or m.brand_id = s.brand_id) join accounts.brands b on b.id = m.brand_id
            where s.token_hash = $1 and ${IS_VALID} order by ${MEMBERSHIP_ORDER}`,
  },
  touch: {
    name: "sessions.touch",
    text: `update accounts.sessions s set last_used_at = now()
            where s.token_hash = $1 and ${IS_VALID} and s.last_used_at < now() - make_interval(secs => $4)`,
  },
  delete: { name: "sessions.delete", text: "delete from accounts.sessions where token_hash = $1 returning email, brand_id, made_by" },
  deleteOf: {
    name: "sessions.delete_of",
    text: "delete from accounts.sessions where email = $1 and ($2::text is null or brand_id = $2) returning 1",
  },
  deleteMadeBy: {
    name: "sessions.delete_made_by",
    text: "delete from accounts.sessions where brand_id = $1 and made_by = $2",
  },
  deleteAny: {
    name: "sessions.delete_any",
    text: `delete from accounts.sessions where token_hash = any(array(select token_hash from accounts.sessions limit $1)) returning 1`,
  },
  deleteOld: {
    name: "sessions.delete_old",
    text: `delete from accounts.sessions where token_hash = any(array(
             select token_hash from accounts.sessions where created_at <= now() - make_interval(secs => $1)
              limit $2 for update skip locked)) returning 1`,
  },
} satisfies Record<string, Statement>;

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
  readonly isTouchDue: boolean;
}

type SessionRow = Omit<Session, "brand_id"> & Membership & { readonly only_brand_id: string | null; readonly is_touch_due: boolean };

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
    isTouchDue: is_touch_due,
  };
}

/** Records a use, once per `touchSeconds` however many processes call it. Revives no session that has expired or ended. */
export async function touchSession(
  sql: Sql,
  tokenHash: Buffer,
  { idleSeconds, maxSeconds }: SessionLimits,
  touchSeconds: number,
): Promise<void> {
  await sql.query(statements.touch, [tokenHash, idleSeconds, maxSeconds, touchSeconds]);
}

/** Returns whose session it was; undefined if there was none. */
export const deleteSession = (sql: Sql, tokenHash: Buffer): Promise<Pick<Session, "email" | "brand_id" | "made_by"> | undefined> =>
  firstOf(sql.query<Pick<Session, "email" | "brand_id" | "made_by">>(statements.delete, [tokenHash]));

/** Deletes a person's sessions: all of them, or those that open this brand alone. Returns how many there were. */
export const deleteSessionsOf = (sql: Sql, email: string, brandId: string | null = null): Promise<number> =>
  countOf(sql.query(statements.deleteOf, [email, brandId]));

/** Deletes the sessions that links of a member opened in a brand. */
export async function deleteSessionsMadeBy(sql: Sql, brandId: string, madeBy: string): Promise<void> {
  await sql.query(statements.deleteMadeBy, [brandId, madeBy]);
}

/** Deletes up to `limit` sessions, of anyone. Returns how many. */
export const deleteAnySessions = (sql: Sql, limit: number): Promise<number> => countOf(sql.query(statements.deleteAny, [limit]));

/** Deletes up to `limit` sessions that ended by age; those that expired for lack of use follow then. Returns how many. */
export const deleteOldSessions = (sql: Sql, { maxSeconds }: SessionLimits, limit: number): Promise<number> =>
  countOf(sql.query(statements.deleteOld, [maxSeconds, limit]));
