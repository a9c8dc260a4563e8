import { AppError } from "@brand-records/errors";
import type { Database, Sql } from "@brand-records/postgres";
import type { RecordChange } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "../dependencies.ts";
import { mailOf, type MailSettings, type MailSwitch } from "../domain/mail.ts";
import { changeMailSettings, mailSettingsOf, queueNotices } from "../storage/mails.ts";

/** What happened, as an audit entry has it. */
interface Happened {
  readonly id: string;
  readonly brand_id: string;
  readonly action: string;
  readonly subject_id: string | null;
  readonly created_at: string;
  readonly outcome: string;
}

/** Queues mail of what owners get mail of, in the transaction that makes or takes it. Without a mail server it does nothing. */
export async function queueMail(
  { sendsMail }: Pick<AccountsDependencies, "sendsMail">,
  sql: Sql,
  happened: readonly Happened[],
): Promise<void> {
  if (!sendsMail) return;
  const notices = happened.flatMap(({ id, brand_id, action, subject_id, created_at: at, outcome }) => {
    const of = subject_id === null || outcome !== "done" ? undefined : mailOf(action, subject_id);
    return of === undefined ? [] : [{ ...of, id, brand_id, action, subject_id: subject_id ?? "", at }];
  });
  await queueNotices(sql, notices);
}

interface OfOwner {
  readonly brand_id: string;
  readonly acting_member: string;
}

/** @throws AppError `not_found` */
export async function getMailSettings(sql: Sql, { brand_id, acting_member }: OfOwner): Promise<MailSettings> {
  const settings = await mailSettingsOf(sql, brand_id, acting_member);
  if (settings === undefined) throw new AppError("not_found", "There is no such member", { field: "acting_member" });
  return settings;
}

/** @throws AppError `not_found` */
export function setMailSettings(
  db: Database,
  { brand_id, acting_member, ...change }: OfOwner & Partial<Record<MailSwitch, boolean | null | undefined>>,
  record: RecordChange,
): Promise<MailSettings> {
  return db.transaction(async (sql) => {
    const changed = await changeMailSettings(sql, { brand_id, email: acting_member }, change);
    if (changed === undefined) return getMailSettings(sql, { brand_id, acting_member });
    await record(sql);
    return changed;
  });
}
