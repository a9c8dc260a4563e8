import { AppError } from "@brand-records/errors";
import type { BeginBrandDeletionResponse, Brand } from "@brand-records/proto/accounts/v1";
import { counted, declared, flag, printable, shortTime, type Values } from "@brand-records/command-line";
import { Option } from "commander";
import { cellDatabases } from "../connection/cells.ts";
import { SERVICE_NAMES } from "../connection/endpoints.ts";
import { withPlatformDatabase } from "../connection/platform-database.ts";
import { clearLog, keepLog, LEFT_AS_IT_IS, type ClearedLog } from "../delete-brand/clear-log.ts";
import {
  deleteEverywhere,
  openDeleters,
  openStatusLine,
  requireServing,
  untilDone,
  type Deleting,
} from "../delete-brand/delete-everywhere.ts";
import { CommandFailure, Interrupted, required, restated, UsageFailure } from "../failure.ts";
import { command, type Session } from "../session.ts";
import type { Colors } from "../terminal.ts";
import { BRAND_HELP, idArgument, textOption, yesOption } from "./options.ts";
import { keysOf, membersOf } from "../connection/read-pages.ts";

const NOTHING_DELETED = "Nothing was deleted.";
/** Everything is deleted but messages in the event log. */
const LOG_KEEPS_MESSAGES = 4;

const OPTIONS = {
  confirm: textOption("--confirm <name>", "the brand's name, instead of typing it"),
  yes: yesOption("delete without asking; needed, with --confirm, where there is no terminal"),
  keepLog: flag("--keep-log", "leave the messages in the event log to its retention"),
  clearLog: declared<boolean | undefined>(
    new Option("--clear-log", "remove the messages also if the brand is deleted already").conflicts("keepLog"),
  ),
};

type DeleteOptions = Values<typeof OPTIONS>;

export const deleteBrand = command("delete", {
  summary: "delete a brand with everything it has, permanently",
  description:
    "Delete a brand with its members, keys, records, plans, receivers, deliveries and events, in every service. Final. The platform stops writing the brand's records first.\n\n" +
    "Its keys are refused and its receivers get nothing more from the beginning on. The rest takes at least 40 seconds. If the command is interrupted, the same command continues. The audit log keeps one entry: that the brand was deleted, and when.\n\n" +
    "At the end, messages are removed from the event log that every group of readers has read: those of all brands, since Kafka removes messages from the beginning only. Readers that commit no offset to Kafka lose what they have not read, and a webhook that is restored from an older backup all of it: back it up at once. If a group is behind or Kafka refuses, the exit code is 4, and the messages are left to retention. For a brand that is deleted already this is done again only with --clear-log.",
  arguments: [idArgument("brand", BRAND_HELP)],
  options: OPTIONS,
  examples: [
    ["brandctl brands delete brd_01h455vb4pex5vsknk084sn02q", "asks for the brand's name, and once more"],
    ['brandctl brands delete brd_… --confirm "Ulap at Araw" --yes', "for a script"],
  ],
  run: async (session, options, brandId: string) => {
    session.ids.set("BRAND", brandId);
    // All, before anything is deleted.
    for (const name of SERVICE_NAMES) session.endpoints.get(name);
    const brand = await findBrand(session, brandId);
    await requireServing(session, brand === undefined ? "Nothing more was deleted." : NOTHING_DELETED, brand?.cell);
    if (brand !== undefined) await confirm(session, brand, options);
    return continueDeletion(session, brandId, options, brand === undefined);
  },
});

/** Returns undefined for a brand that is being deleted, or never was. */
async function findBrand(session: Session, brandId: string): Promise<Brand | undefined> {
  try {
    const { brand } = await session.client("accounts").getBrand({ brand_id: brandId });
    return required(brand, "brand");
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return undefined;
    throw error;
  }
}

async function confirm(session: Session, brand: Brand, options: DeleteOptions): Promise<void> {
  const { confirm: typed, yes = false } = options;
  if (!session.canAsk && (typed === undefined || !yes)) {
    throw new UsageFailure("This cannot be undone, and there is no terminal to ask at.", "Add --confirm with the brand's name, and --yes.");
  }
  if (typed === undefined || !yes) await noteLosses(session, brand, options);
  const name = typed ?? (await session.askText(`The brand's name, to confirm: `, NOTHING_DELETED));
  // Ctrl-D, or an empty line.
  if (name === "") throw new CommandFailure("not_confirmed", `${NOTHING_DELETED} No name was typed.`);
  if (name !== brand.name) {
    throw new CommandFailure(
      "not_confirmed",
      `${NOTHING_DELETED} The name of ${brand.id} is ${JSON.stringify(brand.name)}, not ${JSON.stringify(name)}.`,
    );
  }
  if (!yes)
    await session.confirm(printable(`Delete ${brand.name} permanently? The platform no longer writes its records?`), NOTHING_DELETED);
}

const LOG_LOSSES = `With Kafka, messages of all brands are removed from the event log: those that every group of readers has read.
Readers that commit no offset to Kafka lose what they have not read. --keep-log leaves the messages.
Back webhook up afterwards: restored from an older backup, it lacks the removed messages.`;

async function noteLosses(session: Session, { id, name }: Brand, options: DeleteOptions): Promise<void> {
  const accounts = session.client("accounts");
  const [members, keys, { receivers }] = await Promise.all([
    membersOf(accounts, id),
    keysOf(accounts, id),
    session.client("webhook.receivers").listReceivers({ brand_id: id }),
  ]);
  const waiting = receivers.reduce((sum, receiver) => sum + receiver.waiting, 0);
  const keysInUse = keys.filter(({ revoked_at }) => revoked_at == null).length;
  const losses = [
    counted(members.length, "member"),
    `${counted(keysInUse, "key")} in use`,
    `${counted(receivers.length, "receiver")} with ${counted(waiting, "waiting delivery", "waiting deliveries")}`,
    "all records, plans, events and usage, and the audit log",
  ];
  session.note(({ bold }) => `${bold(printable(`${id}  ${name}`))} and everything it has will be deleted:\n  ${losses.join("\n  ")}`);
  if (options.keepLog !== true) session.note(() => LOG_LOSSES);
}

async function continueDeletion(session: Session, brand_id: string, options: DeleteOptions, resume: boolean): Promise<number> {
  const deleting = startDeleting(session, brand_id);
  const { clients, status, rows } = deleting;
  try {
    const begun = await clients.accounts.beginBrandDeletion({ brand_id, resume });
    if (resume) session.note(({ dim }) => dim(resumedText(begun)));
    const settling = { records: clients.records(begun), at: performance.now() + begun.settles_in_ms, quietMs: begun.quiet_ms };
    const found = await deleteEverywhere(deleting, settling);
    const log = await logStep(deleting, options, { isRepeat: begun.finished, found });
    let redis_expires = false;
    await untilDone(deleting, "accounts", async () => {
      const response = await clients.accounts.finishBrandDeletion({ brand_id });
      redis_expires = response.redis_unavailable;
      return response;
    });
    for (const database of cellDatabases(session).values())
      await withPlatformDatabase(database, (db) => db.query("delete from records.brands where brand_id = $1", [brand_id]));
    status.clear();
    const rows_of_this_run = Object.fromEntries(rows);
    printResult(session, { brand_id, started_at: begun.started_at, resumed: resume, rows_of_this_run, log, redis_expires });
    return log.cleared ? 0 : LOG_KEEPS_MESSAGES;
  } catch (error) {
    status.clear();
    throw failureOf(session, error, brand_id, options);
  }
}

function startDeleting(session: Session, brandId: string): Deleting {
  const status = openStatusLine(session);
  const shown = new Set<string>();
  const tell = (text: string): void => {
    if (!status.isShown && !shown.has(text)) session.note(({ dim }) => dim(text));
    shown.add(text);
  };
  return { brandId, clients: openDeleters(session), status, tell, signal: session.terminal.interrupted, rows: new Map() };
}

/** Removing messages of all brands is asked for with each deletion, and not again with a repeat that looks for what was written since. */
function logStep(
  deleting: Deleting,
  options: DeleteOptions,
  { isRepeat, found }: { readonly isRepeat: boolean; readonly found: number },
): Promise<ClearedLog> {
  if (options.keepLog === true) return keepLog(deleting);
  if (!isRepeat || options.clearLog === true) return clearLog(deleting);
  return found > 0 ? keepLog(deleting) : Promise.resolve(LEFT_AS_IT_IS);
}

const resumedText = ({ started_at, finished }: BeginBrandDeletionResponse): string =>
  finished
    ? "The brand is deleted already. Looking for what was written since."
    : `The deletion began at ${shortTime(started_at)} UTC and continues.`;

/** Says how to go on. A brand that does not exist was not begun to be deleted. */
function failureOf(session: Session, error: unknown, brandId: string, { keepLog: isKept, clearLog: isCleared }: DeleteOptions): unknown {
  const hint = `to continue: brandctl brands delete ${brandId}${isKept === true ? " --keep-log" : ""}${isCleared === true ? " --clear-log" : ""}`;
  if (session.terminal.interrupted.aborted)
    return new Interrupted("Stopped. The brand is not deleted completely, and its keys stay refused.", hint);
  if (error instanceof AppError && error.kind === "not_found") return error;
  return restated(error, (error as Error).message, hint);
}

/** The result as `--json` has it. */
interface Deleted {
  readonly brand_id: string;
  readonly started_at: string;
  readonly resumed: boolean;
  readonly rows_of_this_run: Readonly<Record<string, number>>;
  readonly log: ClearedLog;
  /** Redis could not be reached. */
  readonly redis_expires: boolean;
}

function printResult(session: Session, deleted: Deleted): void {
  const { brand_id, resumed, rows_of_this_run, log, redis_expires } = deleted;
  const rows = Object.entries(rows_of_this_run).map(([kind, count]) => `  ${count.toLocaleString("en")} ${kind.replaceAll("_", " ")}`);
  const ofThisRun = rows.length > 0 ? " This run deleted:" : " This run found nothing.";
  session.print({ deleted }, (colors) =>
    [`${brand_id} is deleted.${resumed ? ofThisRun : ""}`, ...rows, ...logText(log, brand_id, colors)].join("\n"),
  );
  if (redis_expires) session.note(({ yellow }) => yellow("Redis could not be reached: the brand's key in it expires within an hour."));
  session.note(({ dim }) => dim(`The audit log keeps one entry: brandctl audit list --brand ${brand_id}`));
}

function logText(log: ClearedLog, brandId: string, { yellow }: Colors): string[] {
  const letters = log.dead_letters > 0 ? [`  ${counted(log.dead_letters, "dead letter")}`] : [];
  if (log.cleared) return letters;
  const again = `brandctl brands delete ${brandId} --clear-log`;
  return [
    ...letters,
    yellow("Messages that may name the brand are still in the event log."),
    ...log.behind.map(({ group, messages }) => `  the group ${group} has not read ${counted(messages, "message")}`),
    ...(log.refused === undefined ? [] : [`  Kafka refuses to remove messages: ${log.refused}`]),
    ...(log.unreachable === undefined ? [] : [`  It could not be reached, its dead letters neither: ${log.unreachable}`]),
    `${retentionText(log)} ${log.kept === true ? "To remove them" : "To try again"}: ${again}`,
  ];
}

const retentionText = ({ kept_until: keptUntil }: ClearedLog): string =>
  keptUntil === undefined
    ? "Until when its retention keeps them is not known; it may be for ever."
    : `Its retention removes them by ${shortTime(keptUntil)} UTC.`;
