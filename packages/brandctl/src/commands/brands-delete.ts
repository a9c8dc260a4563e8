import { AppError } from "@brand-records/errors";
import type { BeginBrandDeletionResponse, Brand } from "@brand-records/proto/accounts/v1";
import { Command } from "commander";
import { SERVICE_NAMES } from "../connection/endpoints.ts";
import { clearLog, type ClearedLog } from "../delete-brand/clear-log.ts";
import { deleteEverywhere, untilDone, type Deleting } from "../delete-brand/delete-everywhere.ts";
import { CommandFailure, Interrupted, required, UsageFailure } from "../failure.ts";
import { counted, shortTime } from "../output/format.ts";
import { printable } from "../output/printable.ts";
import { openStatusLine } from "../output/status-line.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import type { Colors } from "../terminal.ts";
import { examples, idArgument, textParser } from "./options.ts";

const NOTHING_DELETED = "Nothing was deleted.";
/** Everything is deleted but messages in the event log. */
const LOG_KEEPS_MESSAGES = 4;

interface DeleteOptions {
  readonly confirm?: string;
  readonly yes?: boolean;
  readonly keepLog?: boolean;
}

export function deleteBrand(shell: Shell, brandHelp: string): Command {
  return new Command("delete")
    .summary("delete a brand with everything it has, permanently")
    .description(
      "Delete a brand with its members, keys, records, plans, receivers, deliveries and events, in every service. Final. The platform stops writing the brand's records first.\n\n" +
        "Its keys are refused and its receivers get nothing more from the beginning on. The rest takes at least 35 seconds. If the command is interrupted, the same command continues. The audit log keeps one entry: that the brand was deleted, and when.\n\n" +
        "At the end, messages are removed from the event log that every group of readers has read: those of all brands, since Kafka removes messages from the beginning only. If that is not possible, the exit code is 4, and retention removes them.",
    )
    .addArgument(idArgument("brand", brandHelp))
    .option("--confirm <name>", "the brand's name, instead of typing it", textParser("--confirm"))
    .option("-y, --yes", "delete without asking; needed, with --confirm, where there is no terminal")
    .option("--keep-log", "leave the messages in the event log to its retention")
    .addHelpText(
      "after",
      examples(
        ["brandctl brands delete brd_01h455vb4pex5vsknk084sn02q", "asks for the brand's name, and once more"],
        ['brandctl brands delete brd_… --confirm "Ulap at Araw" --yes', "for a script"],
      ),
    )
    .action((brandId: string, options: DeleteOptions, command: Command) =>
      shell.act(command, async (session) => {
        session.ids.set("BRAND", brandId);
        // All, before anything is deleted.
        for (const name of SERVICE_NAMES) session.endpoints.get(name);
        const brand = await findBrand(session, brandId);
        if (brand !== undefined) await confirm(session, brand, options);
        return continueDeletion(session, brandId, { resume: brand === undefined, keepLog: options.keepLog === true });
      }),
    );
}

/** Returns undefined for a brand that is being deleted, or never was. */
async function findBrand(session: Session, brandId: string): Promise<Brand | undefined> {
  try {
    const { brand } = await (await session.accounts()).getBrand({ brand_id: brandId });
    return required(brand, "brand");
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return undefined;
    throw error;
  }
}

async function confirm(session: Session, brand: Brand, { confirm: typed, yes = false }: DeleteOptions): Promise<void> {
  if (!session.canAsk && (typed === undefined || !yes)) {
    throw new UsageFailure("This cannot be undone, and there is no terminal to ask at.", "Add --confirm with the brand's name, and --yes.");
  }
  if (typed === undefined || !yes) await noteLosses(session, brand);
  const name = typed ?? (await session.askText(`The brand's name, to confirm: `, NOTHING_DELETED));
  if (name !== brand.name) {
    throw new CommandFailure(
      "not_confirmed",
      `${NOTHING_DELETED} The name of ${brand.id} is ${JSON.stringify(brand.name)}, not ${JSON.stringify(name)}.`,
    );
  }
  if (!yes)
    await session.confirm(printable(`Delete ${brand.name} permanently? The platform no longer writes its records?`), NOTHING_DELETED);
}

async function noteLosses(session: Session, { id, name }: Brand): Promise<void> {
  const accounts = await session.accounts();
  const [{ members }, { keys }, { receivers }] = await Promise.all([
    accounts.listMembers({ brand_id: id }),
    accounts.listKeys({ brand_id: id }),
    (await session.receivers()).listReceivers({ brand_id: id }),
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
}

async function continueDeletion(
  session: Session,
  brandId: string,
  { resume, keepLog }: { readonly resume: boolean; readonly keepLog: boolean },
): Promise<number> {
  const status = openStatusLine(session);
  const clients = await session.deleters();
  const deleting: Deleting = { brandId, clients, status, signal: session.terminal.interrupted, rows: new Map() };
  try {
    const begun = await session.untilEffective(clients.accounts.beginBrandDeletion({ brand_id: brandId, resume }));
    if (resume) session.note(({ dim }) => dim(resumedText(begun)));
    await deleteEverywhere(deleting, performance.now() + begun.settles_in_ms);
    const log = await clearLog(deleting, { keepLog });
    const isInRedis = await finish(deleting);
    status.clear();
    printResult(session, deleting, begun.started_at, log, isInRedis);
    return log.cleared ? 0 : LOG_KEEPS_MESSAGES;
  } catch (error) {
    status.clear();
    throw failureOf(session, error, brandId);
  }
}

const resumedText = ({ started_at, finished }: BeginBrandDeletionResponse): string =>
  finished
    ? "The brand is deleted already. Looking for what was written since."
    : `The deletion began at ${shortTime(started_at)} UTC and continues.`;

/** Returns whether Redis could not be reached. */
async function finish(deleting: Deleting): Promise<boolean> {
  const { brandId: brand_id, clients } = deleting;
  let isInRedis = false;
  await untilDone(deleting, "accounts", async () => {
    const response = await clients.accounts.finishBrandDeletion({ brand_id });
    isInRedis = response.redis_unavailable;
    return response;
  });
  return isInRedis;
}

/** Says how to go on. A brand that does not exist was not begun to be deleted. */
function failureOf(session: Session, error: unknown, brandId: string): unknown {
  const hint = `to continue: brandctl brands delete ${brandId}`;
  if (session.terminal.interrupted.aborted)
    return new Interrupted("Stopped. The brand is not deleted completely, and its keys stay refused.", hint);
  if (error instanceof AppError && error.kind === "not_found") return error;
  if (error instanceof CommandFailure)
    return new CommandFailure(error.code, error.message, { cause: error, hint: `${error.hint ?? ""} ${hint}`.trim() });
  return error instanceof AppError ? new CommandFailure(error.kind, error.message, { cause: error, hint }) : error;
}

function printResult(session: Session, { brandId, rows }: Deleting, startedAt: string, log: ClearedLog, isInRedis: boolean): void {
  const deleted = { brand_id: brandId, started_at: startedAt, rows: Object.fromEntries(rows), log, redis_expires: isInRedis };
  session.print({ deleted }, (colors) => [`${brandId} is deleted.`, ...rowsText(rows), ...logText(log, colors)].join("\n"));
  if (isInRedis) session.note(({ yellow }) => yellow("Redis could not be reached: the brand's key in it expires within an hour."));
  session.note(({ dim }) => dim(`The audit log keeps one entry: brandctl audit list --brand ${brandId}`));
}

const rowsText = (rows: ReadonlyMap<string, number>): string[] =>
  [...rows].map(([kind, count]) => `  ${count.toLocaleString("en")} ${kind.replaceAll("_", " ")}`);

function logText({ cleared, dead_letters, behind, refused, kept_until: keptUntil }: ClearedLog, { yellow }: Colors): string[] {
  const letters = dead_letters > 0 ? [`  ${counted(dead_letters, "dead letter")}`] : [];
  if (cleared) return letters;
  const readers = behind.map(({ group, messages }) => `  the group ${group} has not read ${counted(messages, "message")}`);
  const until =
    keptUntil === undefined ? "Its retention does not remove them" : `Its retention removes them by ${shortTime(keptUntil)} UTC`;
  const why = refused === undefined ? readers : [`  Kafka refuses to remove messages: ${refused}`];
  return [
    ...letters,
    yellow("Messages that may name the brand are still in the event log."),
    ...why,
    `${until}; the same command tries again.`,
  ];
}
