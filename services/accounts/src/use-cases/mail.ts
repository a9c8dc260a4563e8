import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import type { RecordChange, SentAuditEntry } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import { mailOf, type MailSettings } from "../domain/mail.ts";
import { changeMailSettings, mailSettingsOf, queueNotices } from "../storage/mails.ts";

type Happened = Pick<SentAuditEntry, "id" | "brand_id" | "action" | "subject_id" | "created_at" | "outcome">;

/** Queues mail of what owners get mail of, in the transaction that makes or takes it. Without a mail server it does nothing. */
export async function queueMail(
  { sendsMail }: Pick<AccountsDependencies, "sendsMail">,
  sql: Sql,
  happened: readonly Happened[],
): Promise<void> {
  if (!sendsMail) return;
  const notices = happened.flatMap(({ id, brand_id, action, subject_id, created_at: at, outcome }) => {
    const mail = subject_id === null || outcome !== "done" ? undefined : mailOf(action, subject_id);
    return mail === undefined ? [] : [{ ...mail, id, brand_id, action, subject_id: subject_id ?? "", at }];
  });
  await queueNotices(sql, notices);
}

/** @throws AppError `not_found` */
export async function getMailSettings(sql: Sql, brandId: string, email: string): Promise<MailSettings> {
  const settings = await mailSettingsOf(sql, brandId, email);
  if (settings === undefined) throw new AppError("not_found", "There is no such member", { field: "acting_member" });
  return settings;
}

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
