import { EVENT_TYPE_NAMES, parseInstant } from "@brand-records/resources";
import { Argument, InvalidArgumentError, Option } from "commander";
import { idPattern } from "@brand-records/ids";
import { UsageFailure } from "../failure.ts";
import { requireEmail, requireId, requireText, type IdKind } from "../ids.ts";
import type { Session } from "../session.ts";

/** Options, arguments and help texts that several commands share. */

/** The examples below a command's options: what to type, and what it does. */
export function examples(...lines: readonly (readonly [command: string, what: string])[]): string {
  return `\nExamples:\n${lines.map(([command, what]) => `  # ${what}\n  ${brokenCommand(command)}`).join("\n\n")}\n`;
}

/** Columns of an example without its indent of two and the ` \\` at the end of a line. */
const EXAMPLE_COLUMNS = 76;

/** Breaks a command before options and pipes with ` \\`, as a shell reads it, so that examples fit into 80 columns. */
function brokenCommand(command: string): string {
  const words = command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? [];
  const lines: string[] = [""];
  // An option stays with its value, a pipe with its command: a part begins at each of the two.
  const isStart = (word: string): boolean => word.startsWith("--") || word === "|";
  for (const [at, word] of words.entries()) {
    const line = lines.at(-1) ?? "";
    const end = words.findIndex((later, index) => index > at && isStart(later));
    const part = words.slice(at, end === -1 ? undefined : end).join(" ");
    if (line !== "" && isStart(word) && line.length + 1 + part.length > EXAMPLE_COLUMNS) lines.push(`  ${word}`);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join(" \\\n  ");
}

/** `--brand` where nothing else names the brand. */
export const brandOption = (help: string): Option => brandIdOption(`${help} (default: $BRAND)`);

/** `--brand` where an id names the brand. */
export const brandCheckOption = (what: string): Option => brandIdOption(`fail unless the ${what} is this brand's`);

export const brandIdOption = (help: string): Option => new Option("--brand <id>", help).argParser(idParser("--brand", "brand"));

/** Reads an id of the command line. @param name what an error names. The parser throws UsageFailure. */
export const idParser =
  (name: string, kind: IdKind) =>
  (text: string): string =>
    requireId(name, kind, text);

/** Reads a text of the command line. @param name what an error names. The parser throws UsageFailure for an empty text. */
export const textParser =
  (name: string) =>
  (text: string): string =>
    requireText(name, text);

/** Reads the e-mail address of a person. The parser throws UsageFailure for what cannot be one. */
export const parseEmail = (text: string): string => requireEmail("The e-mail address", text);

/** `<kind>`, an argument that is an id. */
export const idArgument = (kind: IdKind, help: string, name = `<${kind}>`): Argument =>
  new Argument(name, help).argParser(idParser(`The id of a ${kind}`, kind));

const RECORD_ID = idPattern("[a-z]{2,3}");

export const RECEIVER_HELP = "id of the receiver (rcv_…), see receivers list";
export const receiverOption = (): Option => new Option("--receiver <id>", RECEIVER_HELP).argParser(idParser("--receiver", "receiver"));
export const DELIVERY_HELP = "id of the delivery (dlv_…), see deliveries list";
export const EVENT_HELP = "id of the event (evt_…), see events list";
/** Reads the id of a record of any kind. The parser throws UsageFailure. */
export function parseRecordId(text: string): string {
  if (RECORD_ID.test(requireText("--record", text))) return text;
  throw new UsageFailure(`--record must be the id of a record, such as sub_…; ${text} is not.`);
}

export const EVENTS_HELP = `comma-separated event types: ${EVENT_TYPE_NAMES.join(", ")}`;

export const eventsOption = (help = EVENTS_HELP): Option =>
  new Option("--events <types>", help).argParser(listParser("--events", EVENT_TYPE_NAMES, { one: "an event type", many: "event types" }));

/**
 * Reads a comma-separated list of known words; empty items are skipped. The parser throws UsageFailure naming what is not one.
 *
 * @param name what an error names
 */
export const listParser =
  (name: string, known: readonly string[], noun: { readonly one: string; readonly many: string }) =>
  (text: string): string[] => {
    const items = text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
    const unknown = items.filter((item) => !known.includes(item));
    const hint = `${name} takes ${known.join(", ")}`;
    if (items.length === 0) throw new UsageFailure(`${name} names no ${noun.one.replace(/^an? /, "")}`, hint);
    if (unknown.length > 0) {
      const listed = unknown.map((item) => JSON.stringify(item)).join(", ");
      throw new UsageFailure(`${name}: ${listed} ${unknown.length === 1 ? `is not ${noun.one}` : `are not ${noun.many}`}`, hint);
    }
    return items;
  };

const LIMIT_DEFAULT = 50;

/** @param max the largest number that the service returns, if it returns one page only */
export const limitOption = (max?: number): Option =>
  new Option("--limit <count>", `how many at most${max === undefined ? "" : `, up to ${max}`}`)
    .argParser(parseLimit)
    .default(LIMIT_DEFAULT);

export function noteLimit(session: Session, { mayBeMore }: { readonly mayBeMore: boolean }, limit: number): void {
  if (mayBeMore) session.note(({ dim }) => dim(`Limited to ${limit}; there may be older ones: see --limit`));
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 to 999999, such as 50.");
  return Number(text);
}

/** Reads an RFC 3339 time. @returns milliseconds since the epoch */
export function parseTime(text: string): number {
  const time = parseInstant(text);
  if (time === undefined) throw new InvalidArgumentError("It must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00Z.");
  return time;
}

/** Reads an RFC 3339 time. @returns the text as it is: a service may identify a request by it */
export function parseTimeText(text: string): string {
  parseTime(text);
  return text;
}
