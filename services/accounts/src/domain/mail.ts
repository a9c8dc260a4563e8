import { hash } from "node:crypto";
import type { NoticeAction } from "@brand-records/service-runtime";

/** What an owner can switch off for a brand. */
export const MAIL_SWITCHES = ["receivers", "plans_and_keys"] as const;
export type MailSwitch = (typeof MAIL_SWITCHES)[number];
export type MailSettings = Readonly<Record<MailSwitch, boolean>>;

/** Something that mail tells: ids and a time alone. */
export interface MailNotice {
  readonly id: string;
  readonly action: string;
  readonly subject_id: string;
  readonly at: string;
}

interface Told {
  readonly mail: MailSwitch;
  /** What one mail an hour is about. Default: the receiver. Of plans and keys it is all of a brand: an assistant may prepare 200 in a minute. */
  readonly subject?: "plans" | "keys";
  readonly title: string;
  readonly text: string;
  readonly path: (id: string) => string;
}

const receiver = (title: string, text: string): Told => ({
  mail: "receivers",
  title: `Receiver ${title}`,
  text,
  path: (id) => `/developers/receivers/${id}`,
});
const key = (what: string): Told => ({
  mail: "plans_and_keys",
  subject: "keys",
  title: `API key ${what}`,
  text: "The audit log says by whom.",
  path: (id) => `/developers/keys?key=${id}`,
});

/** Notices, and actions of audit entries, of which owners get mail. */
const TOLD: Readonly<Partial<Record<string, Told>>> = {
  "notice.receiver_paused": receiver(
    "paused",
    "It has only failed for an hour. Events wait for it, and are tried again every few minutes.",
  ),
  "notice.receiver_works": receiver("works again", "It accepts deliveries. What has waited is being sent."),
  "notice.receiver_gone": receiver("disabled", "It answered 410 Gone. Nothing is sent to it; its events are held."),
  "notice.receiver_failing": receiver("disabled", "It has only failed for five days. Nothing is sent to it; its events are held."),
  "receiver.disable": receiver("disabled", "Nothing is sent to it; its events are held. The audit log says who disabled it."),
  "receiver.enable": receiver("enabled", "Events are sent to it again. The audit log says who enabled it."),
  "notice.plan_prepared": {
    mail: "plans_and_keys",
    subject: "plans",
    title: "Campaign plan waits for completion",
    text: "An integration has prepared it. Your team edits, completes or cancels it; nothing is published, funded or paid by it.",
    // The page finds the plan's type.
    path: (id) => `/workspaces/ugc/plans/${id}`,
  },
  "key.create": key("created"),
  "key.revoke": key("revoked"),
} satisfies Record<NoticeAction, Told> & Record<string, Told>;

/** Returns the switch and the subject of something that happened; undefined if owners get no mail of it. */
export function mailOf(action: string, subjectId: string): { readonly mail: MailSwitch; readonly subject: string } | undefined {
  // What is no id is in no link.
  const told = /^[a-z]+_[0-9a-z]{1,40}$/.test(subjectId) ? TOLD[action] : undefined;
  return told && { mail: told.mail, subject: told.subject ?? subjectId };
}

/** Notices of one mail. */
export const NOTICES_MAX = 50;

/** Pause after a try that failed, in seconds: doubles to an hour. */
export const retrySeconds = (tries: number): number => Math.min(30 * 2 ** (tries - 1), 3_600);

export interface MailContent {
  readonly brandName: string;
  /** At least one; the last is the newest. */
  readonly notices: readonly MailNotice[];
  /** Of the console. */
  readonly publicUrl: string;
}

/** Returns the mail: its subject names what happened last. */
export function contentOf({ brandName, notices, publicUrl }: MailContent): { subject: string; text: string; html: string } {
  const parts = notices.flatMap(({ action, subject_id, at }) => {
    const told = TOLD[action];
    return told === undefined ? [] : [{ ...told, id: subject_id, at: inManila(at), url: publicUrl + told.path(subject_id) }];
  });
  const others = parts.length > 1 ? ` (and ${parts.length - 1} more)` : "";
  const rest = notices.length < NOTICES_MAX ? "" : "There may be more: the console shows all of them.";
  const why = `You get this as an owner of ${brandName}. Choose what you get mail of:`;
  const settings = `${publicUrl}/developers/mail`;
  return {
    subject: `${brandName}: ${parts.at(-1)?.title}${others}`,
    text: [
      ...parts.map(({ title, id, at, text, url }) => `${title}: ${id}\n${at}\n${text}\n${url}`),
      ...(rest ? [rest] : []),
      `-- \n${why}\n${settings}`,
    ].join("\n\n"),
    html: page([
      ...parts.map(
        ({ title, id, at, text, url }) =>
          `<h2 style="font-size:18px;margin:0">${title}</h2><p style="margin:4px 0 24px"><a href="${escaped(url)}">${escaped(id)}</a>, ${at}<br>${text}</p>`,
      ),
      ...(rest ? [`<p>${rest}</p>`] : []),
      `<p style="font-size:14px"><small>${escaped(why)} <a href="${escaped(settings)}">${escaped(settings)}</a></small></p>`,
    ]),
  };
}

/** The same for each try of the same mail, so that a mailbox can tell that it has it already. */
export const messageId = (brandId: string, email: string, notices: readonly MailNotice[], host: string): string =>
  `<${hash("sha256", JSON.stringify([brandId, email, notices.map(({ id }) => id)])).slice(0, 32)}@${host}>`;

const TIME = new Intl.DateTimeFormat("en-PH", { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Manila" });
const inManila = (at: string): string => `${TIME.format(new Date(at))} (Manila)`;

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? "");

/** One column that fits a phone, in the colours of the reader's own scheme. */
const page = (parts: readonly string[]): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Brand Records</title></head><body style="margin:0 auto;padding:16px;max-width:600px;font:16px/1.5 sans-serif;overflow-wrap:anywhere">
${parts.join("\n")}
</body></html>`;
