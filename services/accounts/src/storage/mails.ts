import { countOf, firstOf, isFound, statementsOf, type Sql } from "@brand-records/postgres";
import { type MailContent, type MailNotice, type MailSettings, NOTICES_MAX } from "../domain/mail.ts";

/** A mail to one owner about one subject, which this process tries to send. */
export interface ClaimedMail extends MailContent {
  readonly brand_id: string;
  readonly email: string;
  readonly subject: string;
  readonly tries: number;
  /** When another process may try it. Tells this try from every later one. */
  readonly due_at: string;
  /** Of whom it goes to and what it tells. */
  readonly hash: string;
  /** False: the person is no owner any more, or has switched it off. */
  readonly is_wanted: boolean;
  /** All that it tells happened more than a day ago. */
  readonly is_old: boolean;
}

const OF_CLAIM = "m.brand_id = $1 and m.email = $2 and m.subject = $3 and m.due_at = $4";
/** Whether owner `o` gets mail that a switch is for. */
const isOn = (mail: string): string => `case ${mail} when 'receivers' then o.mail_receivers else o.mail_plans_and_keys end`;

const statements = statementsOf("mails", {
  /** Against changes of their members, which lock the brand, too: two would otherwise wait for each other. */
  lockBrands: "select from accounts.brands where id = any($1::text[]) and deletion_started_at is null order by id for share",
  queue: `insert into accounts.mails as m (brand_id, email, subject, notices, due_at)
           select g.brand_id, o.email, g.subject,
                  jsonb_path_query_array(jsonb_agg(jsonb_build_object('id', g.id, 'action', g.action, 'subject_id', g.subject_id, 'at', g.at)
                                                   order by g.at, g.id), '$[0 to ${NOTICES_MAX - 1}]'), now()
             from jsonb_to_recordset($1::jsonb) as g(id text, brand_id text, action text, subject_id text, at text, subject text, mail text)
             join accounts.members o on o.brand_id = g.brand_id and o.role = 'owner' and ${isOn("g.mail")}
            where g.at::timestamptz > now() - interval '1 day'
            group by g.brand_id, o.email, g.subject order by g.brand_id, o.email, g.subject
               on conflict (brand_id, email, subject) do update set (notices, due_at) = (
                  select m.notices || coalesce(jsonb_agg(n order by i), '[]'),
                         case when count(n) = 0 then m.due_at else coalesce(m.due_at, greatest(now(), m.sent_at + interval '1 hour')) end
                    from jsonb_array_elements(excluded.notices) with ordinality e(n, i)
                   where n->>'id' <> all(m.settled) and not m.notices @> jsonb_build_array(jsonb_build_object('id', n->'id'))
                     and jsonb_array_length(m.notices) + i <= ${NOTICES_MAX})`,
  /** Two processes claim different mails. */
  claim: `with due as (select d.brand_id, d.email, d.subject from accounts.mails d where d.due_at <= now()
                         order by d.due_at limit $1 for update skip locked)
           update accounts.mails m set tries = m.tries + 1, due_at = now() + make_interval(secs => $2)
             from due, accounts.brands b, accounts.members o
            where (m.brand_id, m.email, m.subject) = (due.brand_id, due.email, due.subject) and b.id = m.brand_id
              and (o.brand_id, o.email) = (m.brand_id, m.email)
           returning m.brand_id, m.email, m.subject, m.notices, m.tries, m.due_at, b.name as brand_name,
                     left(encode(sha256(convert_to(m.email || m.notices::text, 'UTF8')), 'hex'), 32) as hash,
                     (m.notices->-1->>'at')::timestamptz < now() - interval '1 day' as is_old,
                     o.role = 'owner' and ${isOn("case when m.subject like 'rcv%' then 'receivers' end")} as is_wanted`,
  /** What came meanwhile stays, behind what the process has read. */
  settle: `update accounts.mails m
              set settled = (array(select n->>'id' from jsonb_array_elements(m.notices) with ordinality e(n, i) where i <= $5) || m.settled)[1:200],
                  sent_at = case when $6 then now() else m.sent_at end, tries = 0,
                  (notices, due_at) = (select coalesce(jsonb_agg(n order by i), '[]'), case when count(n) > 0 then now() + interval '1 hour' end
                                         from jsonb_array_elements(m.notices) with ordinality e(n, i) where i > $5)
            where ${OF_CLAIM}`,
  /** After 30 s, then after twice as long, up to an hour. */
  retry: `update accounts.mails m set due_at = now() + make_interval(secs => least(30 * 2 ^ (m.tries - 1), 3600)) where ${OF_CLAIM}`,
  deleteOld: `delete from accounts.mails m where (m.brand_id, m.email, m.subject) in (
             select brand_id, email, subject from accounts.mails
              where due_at is null and coalesce(sent_at, '-infinity') < now() - interval '1 day' limit $1 for update skip locked) returning 1`,
  settings: `select mail_receivers as receivers, mail_plans_and_keys as plans_and_keys from accounts.members where brand_id = $1 and email = $2`,
  setSettings: `update accounts.members set mail_receivers = coalesce($3, mail_receivers), mail_plans_and_keys = coalesce($4, mail_plans_and_keys)
            where brand_id = $1 and email = $2
              and (mail_receivers, mail_plans_and_keys) <> (coalesce($3, mail_receivers), coalesce($4, mail_plans_and_keys)) returning 1`,
});

type QueuedNotice = MailNotice & { readonly brand_id: string; readonly subject: string; readonly mail: keyof MailSettings };

/** Queues notices as mail to the owners of their brands who have not switched it off. One that was queued before changes nothing. */
export async function queueNotices(sql: Sql, notices: readonly QueuedNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await sql.query(statements.lockBrands, [notices.map(({ brand_id }) => brand_id)]);
  await sql.query(statements.queue, [JSON.stringify(notices)]);
}

/** Returns mails that are due. No other process tries them for `leaseSeconds`. */
export const claimMails = (sql: Sql, limit: number, leaseSeconds: number): Promise<ClaimedMail[]> =>
  sql.query<ClaimedMail>(statements.claim, [limit, leaseSeconds]);

const keyOf = ({ brand_id, email, subject, due_at }: ClaimedMail): unknown[] => [brand_id, email, subject, due_at];

/** Ends a mail: it was sent, or never will be. What came since is the next one, in an hour. */
export const settleMail = (sql: Sql, mail: ClaimedMail, isSent: boolean): Promise<unknown> =>
  sql.query(statements.settle, [...keyOf(mail), mail.notices.length, isSent]);

export const retryMail = (sql: Sql, mail: ClaimedMail): Promise<unknown> => sql.query(statements.retry, keyOf(mail));

/** Deletes up to `limit` rows of which nothing waits and nothing was sent for a day. Returns how many. */
export const deleteOldMails = (sql: Sql, limit: number): Promise<number> => countOf(sql.query(statements.deleteOld, [limit]));

export const mailSettingsOf = (sql: Sql, brandId: string, email: string): Promise<MailSettings | undefined> =>
  firstOf(sql.query<MailSettings>(statements.settings, [brandId, email]));

/** @returns whether something changed */
export const changeMailSettings = (
  sql: Sql,
  brandId: string,
  email: string,
  { receivers, plans_and_keys }: { readonly [Name in keyof MailSettings]?: boolean | null | undefined },
): Promise<boolean> => isFound(sql.query(statements.setSettings, [brandId, email, receivers ?? null, plans_and_keys ?? null]));
