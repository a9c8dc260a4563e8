import { isFound, onlyOf, statementsOf, unnestRows, type Sql } from "@brand-records/postgres";
import type { MailNotice, MailSettings } from "../domain/mail.ts";
import { shareBrands } from "./brands.ts";
import { oldRowsOf } from "./row-deletions.ts";

/** What one owner is told about one subject, which this process tries to send. */
export interface ClaimedMail {
  readonly brand_id: string;
  readonly brand_name: string;
  readonly email: string;
  readonly subject: string;
  /** The oldest first; none if all of them were given up. */
  readonly notices: readonly MailNotice[];
  readonly tries: number;
  /** How many of its notices have become a day old. They are tried no more. */
  readonly given_up: number;
}

const QUEUED = unnestRows(
  { brand_id: "text", subject: "text", id: "text", action: "text", subject_id: "text", at: "timestamptz" },
  { as: "n" },
);

const OF_MAIL = "m.due_at is not null and (m.brand_id, m.email, m.subject) = ($1, $2, $3)";
/** Whether owner `o` has not switched off mail about a subject. */
const isOn = (subject: string): string => `case when ${subject} in ('plans', 'keys') then o.mail_plans_and_keys else o.mail_receivers end`;

const statements = statementsOf("mails", {
  queue: `insert into accounts.mails (brand_id, email, subject, id, action, subject_id, happened_at)
           select n.brand_id, o.email, n.subject, n.id, n.action, n.subject_id, n.at
             from ${QUEUED.relation}
             join accounts.members o on o.brand_id = n.brand_id and o.role = 'owner' and ${isOn("n.subject")}
            where n.at > now() - interval '1 day' order by 1, 2, 3, 4
               on conflict do nothing`,
  /**
   * One process claims at a time; the others look again soon. A mail is all that is due of an owner and subject. It waits while the one before is
   * tried, or was sent within the hour. What is a day old, or not wanted any more, is claimed no more.
   */
  claim: `with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended('accounts.mails', 0)) as is_ours),
           due as (
             select d.brand_id, d.email, d.subject from accounts.mails d where d.due_at <= now() and (select is_ours from turn)
              group by 1, 2, 3 order by min(d.due_at) limit $1),
           mail as (
             select d.*, b.name as brand_name, o.role = 'owner' and ${isOn("d.subject")} as is_wanted,
                    (select max(greatest(m.due_at, m.sent_at + interval '1 hour')) from accounts.mails m
                      where (m.brand_id, m.email, m.subject) = (d.brand_id, d.email, d.subject)
                        and greatest(m.due_at, m.sent_at + interval '1 hour') > now()) as waits_until
               from due d join accounts.brands b on b.id = d.brand_id
               join accounts.members o on (o.brand_id, o.email) = (d.brand_id, d.email)),
           claimed as (
             update accounts.mails m
                set tries = m.tries + (waits_until is null)::int,
                    due_at = case when is_wanted and m.happened_at > now() - interval '1 day'
                                  then coalesce(waits_until, now() + make_interval(secs => $2)) end
               from mail where (m.brand_id, m.email, m.subject) = (mail.brand_id, mail.email, mail.subject) and m.due_at <= now()
             returning m.*, brand_name, is_wanted, waits_until)
           select brand_id, brand_name, email, subject, max(tries) as tries, (count(*) filter (where is_wanted and due_at is null))::int as given_up,
                  coalesce(jsonb_agg(jsonb_build_object('id', id, 'action', action, 'subject_id', subject_id, 'at', happened_at)
                                     order by happened_at, id) filter (where due_at is not null and waits_until is null), '[]') as notices
             from claimed group by 1, 2, 3, 4`,
  /** What came meanwhile, or was not told, is due in an hour. */
  settle: `update accounts.mails m set due_at = case when m.id <> all($4) then now() + interval '1 hour' end, sent_at = case when m.id = any($4) then now() end
            where ${OF_MAIL}`,
  retry: `update accounts.mails m set due_at = now() + make_interval(secs => $4) where ${OF_MAIL}`,
  settings: `select mail_receivers as receivers, mail_plans_and_keys as plans_and_keys from accounts.members where brand_id = $1 and email = $2`,
  setSettings: `update accounts.members set mail_receivers = coalesce($3, mail_receivers), mail_plans_and_keys = coalesce($4, mail_plans_and_keys)
            where brand_id = $1 and email = $2
              and (mail_receivers, mail_plans_and_keys) <> (coalesce($3, mail_receivers), coalesce($4, mail_plans_and_keys)) returning 1`,
});

/** Queues notices as mail to the owners of their brands who have not switched it off. One that was queued before changes nothing. */
export async function queueNotices(
  sql: Sql,
  notices: readonly (MailNotice & { readonly brand_id: string; readonly subject: string })[],
): Promise<void> {
  if (notices.length === 0) return;
  // Against changes of their members, which lock the brand, too: two would otherwise wait for each other.
  await shareBrands(
    sql,
    notices.map(({ brand_id }) => brand_id),
  );
  await sql.query(statements.queue, QUEUED.values(notices));
}

/** Returns mails that are due. No other process tries them for `leaseSeconds`. */
export const claimMails = (sql: Sql, limit: number, leaseSeconds: number): Promise<ClaimedMail[]> =>
  sql.query<ClaimedMail>(statements.claim, [limit, leaseSeconds]);

/** Ends the notices of a mail that was sent. */
export const settleMail = (sql: Sql, { brand_id, email, subject }: ClaimedMail, sent: readonly string[]): Promise<unknown> =>
  sql.query(statements.settle, [brand_id, email, subject, sent]);

export const retryMail = (sql: Sql, { brand_id, email, subject }: ClaimedMail, inSeconds: number): Promise<unknown> =>
  sql.query(statements.retry, [brand_id, email, subject, inSeconds]);

/** Deletes what happened a number of days ago, or earlier. */
export const deleteOldMails = oldRowsOf("mails", "happened_at <= now() - make_interval(days => $1) order by happened_at");

export const mailSettingsOf = (sql: Sql, brandId: string, email: string): Promise<MailSettings> =>
  onlyOf(sql.query<MailSettings>(statements.settings, [brandId, email]));

/** @returns whether something changed */
export const changeMailSettings = (
  sql: Sql,
  brandId: string,
  email: string,
  { receivers, plans_and_keys }: { readonly [Name in keyof MailSettings]?: boolean | null | undefined },
): Promise<boolean> => isFound(sql.query(statements.setSettings, [brandId, email, receivers ?? null, plans_and_keys ?? null]));
