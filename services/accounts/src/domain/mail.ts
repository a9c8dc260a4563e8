/** What an owner gets mail of from a brand. */
export interface MailSettings {
  readonly receivers: boolean;
  readonly plans_and_keys: boolean;
}

/** Something that mail tells: ids and a time alone. */
export interface MailNotice {
  readonly id: string;
  readonly action: string;
  readonly subject_id: string;
  readonly at: string;
}

interface Told {
  /** What one mail an hour is about. Default: the receiver. Of plans and keys it is all of a brand: an assistant may prepare 200 in a minute. */
  readonly subject?: "plans" | "keys";
  readonly title: string;
  readonly text: string;
  readonly path: (id: string) => string;
}

const receiver = (title: string, text: string): Told => ({
  title: `Receiver ${title}`,
  text,
  path: (id) => `/developers/receivers/${id}`,
});
const key = (what: string): Told => ({
  subject: "keys",
  title: `API key ${what}`,
  text: "The audit log says by whom.",
  path: (id) => `/developers/keys?key=${id}`,
});

/** Notices, and actions of audit entries, of which owners get mail. */
const TOLD: Readonly<Partial<Record<string, Told>>> = {
  "notice.receiver_paused": receiver(
    "paused",
    "It has only failed for an hour or longer. Events wait for it, and are tried again every few minutes.",
  ),
  "notice.receiver_works": receiver("works again", "It accepts deliveries. What has waited is being sent."),
  "notice.receiver_gone": receiver("disabled", "It answered 410 Gone. Nothing is sent to it; its events are held."),
  "notice.receiver_failing": receiver("disabled", "It has only failed for five days. Nothing is sent to it; its events are held."),
  "receiver.disable": receiver("disabled", "Nothing is sent to it; its events are held. The audit log says who disabled it."),
  "receiver.enable": receiver("enabled", "Events are sent to it again. The audit log says who enabled it."),
  "notice.plan_prepared": {
    subject: "plans",
    title: "Campaign plan waits for completion",
    text: "An integration has prepared it. Your team edits, completes or cancels it; nothing is published, funded or paid by it.",
    // The page finds the plan's type.
    path: (id) => `/workspaces/ugc/plans/${id}`,
  },
  "key.create": key("created"),
  "key.revoke": key("revoked"),
};

/** Returns what a mail about something that happened is about: a receiver, `plans` or `keys`; undefined if owners get no mail of it. */
export function mailSubjectOf(action: string, subjectId: string): string | undefined {
  // What is no id is in no link.
  const told = /^[a-z]+_[0-9a-z]{1,40}$/.test(subjectId) ? TOLD[action] : undefined;
  return told && (told.subject ?? subjectId);
}

/** Notices of one mail. */
const TOLD_MAX = 50;

export interface MailContent {
  readonly brand_id: string;
  readonly brand_name: string;
  /** The last is the newest. */
  readonly notices: readonly MailNotice[];
}

/** Where an owner chooses what there is mail of. It names the brand: the person may own several. */
export const choicePath = (brandId: string): string => `/developers/mail?brand=${brandId}`;

/**
 * Returns the mail, whose subject names what happened last, and the ids of what it tells: notices that this release does not know are not among
 * them. Undefined if there are no others.
 *
 * @param publicUrl of the console
 */
export function contentOf({ brand_id, brand_name, notices }: MailContent, publicUrl: string) {
  const told = notices.flatMap((notice) => {
    const of = TOLD[notice.action];
    return of === undefined ? [] : [{ ...notice, ...of }];
  });
  const last = told.at(-1);
  if (last === undefined) return undefined;
  const others = told.length > 1 ? ` (and ${told.length - 1} more)` : "";
  const paragraphs = [
    ...told
      .slice(-TOLD_MAX)
      .map(({ title, subject_id: id, at, text, path }) => `${title}: ${id}\n${inManila(at)}\n${text}\n${publicUrl}${path(id)}`),
    ...(told.length <= TOLD_MAX ? [] : [`The console shows ${told.length - TOLD_MAX} more.`]),
    `You get this as an owner of ${brand_name}. Choose what you get mail of:\n${publicUrl}${choicePath(brand_id)}`,
  ];
  const content = { subject: `${brand_name}: ${last.title}${others}`, text: paragraphs.join("\n\n"), html: page(paragraphs) };
  return { content, told: told.map(({ id }) => id) };
}

const TIME = new Intl.DateTimeFormat("en-PH", { dateStyle: "medium", timeStyle: "short", timeZone: "Asia/Manila" });
const inManila = (at: string): string => `${TIME.format(new Date(at))} (Manila)`;

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The same as HTML: one column that fits a phone, in the colours of the reader's own scheme. */
function page(paragraphs: readonly string[]): string {
  const parts = paragraphs.map((paragraph) => {
    const escaped = paragraph.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
    const linked = escaped.replace(/^https?:.*$/m, '<a href="$&">$&</a>').replace(/^[^\n]*: \w+$/m, "<strong>$&</strong>");
    return `<p>${linked.replaceAll("\n", "<br>\n")}</p>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>Brand Records</title></head>
<body style="margin:0 auto;padding:16px;max-width:600px;font:16px/1.5 sans-serif;overflow-wrap:anywhere">
${parts.join("\n")}
</body></html>`;
}
