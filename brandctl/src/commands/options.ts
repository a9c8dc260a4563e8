import { EVENT_TYPE_NAMES, parseInstant } from "@brand-records/resources";
import { flag, option, withDefault, type Declared } from "@brand-records/command-line";
import { idPattern } from "@brand-records/ids";
import { Argument, InvalidArgumentError } from "commander";
import { UsageFailure } from "../failure.ts";
import { requireEmail, requireId, requireText, type IdKind } from "../ids.ts";

/** Options, arguments and help texts that several commands share. */

/** `--brand` where nothing else names the brand. */
export const brandOption = (help: string): Declared<string | undefined> => brandIdOption(`${help} (default: $BRAND)`);

/** `--brand` where an id names the brand. */
export const brandCheckOption = (what: string): Declared<string | undefined> => brandIdOption(`fail unless the ${what} is this brand's`);

export const brandIdOption = (help: string): Declared<string | undefined> => idOption("--brand <id>", "brand", help);

/** An option that is an id. Parsing throws UsageFailure for another. */
export const idOption = (flags: string, kind: IdKind, help: string): Declared<string | undefined> =>
  option(flags, help, (text) => requireId(nameOf(flags), kind, text));

/** An option that is a text. Parsing throws UsageFailure for an empty one. */
export const textOption = (flags: string, help: string): Declared<string | undefined> =>
  option(flags, help, (text) => requireText(nameOf(flags), text));

/** `--name` of `--name <value>`. */
const nameOf = (flags: string): string => flags.replace(/ .*/, "");

/** `-y, --yes` */
export const yesOption = (help: string): Declared<boolean | undefined> => flag("-y, --yes", help);

export const emailArgument = (help: string): Argument =>
  new Argument("<email>", help).argParser((text) => requireText("The e-mail address", text));

/** `<email>` of a person. Parsing throws UsageFailure for what cannot be an address. */
export const personArgument = (): Argument =>
  new Argument("<email>", "e-mail address of the person").argParser((text) => requireEmail("The e-mail address", text));

/** `<kind>`, an argument that is an id. */
export const idArgument = (kind: IdKind, help: string, name = `<${kind}>`): Argument =>
  new Argument(name, help).argParser((text) => requireId(`The id of a ${kind}`, kind, text));

const RECORD_ID = idPattern("[a-z]{2,3}");

export const BRAND_HELP = "id of the brand (brd_…), see brands list";
export const RECEIVER_HELP = "id of the receiver (rcv_…), see receivers list";
export const receiverOption = (): Declared<string | undefined> => idOption("--receiver <id>", "receiver", RECEIVER_HELP);
export const DELIVERY_HELP = "id of the delivery (dlv_…), see deliveries list";
/** Reads the id of a record of any kind. The parser throws UsageFailure. */
export function parseRecordId(text: string): string {
  if (RECORD_ID.test(requireText("--record", text))) return text;
  throw new UsageFailure(`--record must be the id of a record, such as sub_…; ${text} is not.`);
}

export const EVENTS_HELP = `comma-separated event types: ${EVENT_TYPE_NAMES.join(", ")}`;

export const eventsOption = (help = EVENTS_HELP): Declared<string[] | undefined> =>
  option("--events <types>", help, listParser("--events", EVENT_TYPE_NAMES, { one: "an event type", many: "event types" }));

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

/** Reads a whole number. The parser throws InvalidArgumentError. @param problem such as `It must be a whole number from 1 to 64.` */
export const numberParser =
  (min: number, max: number, problem: string) =>
  (text: string): number => {
    const value = Number(text);
    const form = min > 0 ? /^[1-9]\d{0,8}$/ : /^\d{1,9}$/;
    if (!form.test(text) || value < min || value > max) throw new InvalidArgumentError(problem);
    return value;
  };

const parseLimit = numberParser(1, 999_999, "It must be a whole number from 1 to 999999, such as 50.");

const LIMIT_DEFAULT = 50;

/** @param max the largest number that the service returns, if it returns one page only */
export const limitOption = (max?: number): Declared<number> =>
  withDefault(option("--limit <count>", `how many at most${max === undefined ? "" : `, up to ${max}`}`, parseLimit), LIMIT_DEFAULT);

/** Reads an RFC 3339 time. @returns milliseconds since the epoch */
export function parseTime(text: string): number {
  const time = parseInstant(text);
  if (time === undefined) throw new InvalidArgumentError("It must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00Z.");
  return time;
}

/** Reads an RFC 3339 time. @returns the text of that time as services write it: UTC, with milliseconds */
export const parseInstantText = (text: string): string => new Date(parseTime(text)).toISOString();

/** Reads an RFC 3339 time. @returns the text as it is: a service may identify a request by it */
export function parseTimeText(text: string): string {
  parseTime(text);
  return text;
}
