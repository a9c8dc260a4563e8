import type { Database, Sql } from "@brand-records/postgres";
import type { RecordChange, SentAuditEntry } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import { mailSubjectOf } from "../domain/mail.ts";
import { changeMailSettings, queueNotices } from "../storage/mails.ts";

type Happened = Pick<SentAuditEntry, "id" | "brand_id" | "action" | "subject_id" | "created_at" | "outcome">;

/** Queues mail of what owners get mail of, in the transaction that makes or takes it. Without a mail server it does nothing. */
export async function queueMail(
  { sendsMail }: Pick<AccountsDependencies, "sendsMail">,
  sql: Sql,
  happened: readonly Happened[],
): Promise<void> {
  if (!sendsMail) return;
  const notices = happened.flatMap(({ id, brand_id, action, subject_id, created_at: at, outcome }) => {
    const subject = subject_id === null || outcome !== "done" ? undefined : mailSubjectOf(action, subject_id);
    return subject === undefined ? [] : [{ id, brand_id, action, subject, subject_id: subject_id ?? "", at }];
  });
  await queueNotices(sql, notices);
}

export { mailSettingsOf } from "../storage/mails.ts";

export const setMailSettings = (
  db: Database,
  brandId: string,
  email: string,
  change: Parameters<typeof changeMailSettings>[3],
  record: RecordChange,
): Promise<void> =>
  db.transaction(async (sql) => {
    if (await changeMailSettings(sql, brandId, email, change)) await record(sql);
  });
