import { EVENT_TYPE_NAMES, isEventType } from "@brand-records/brand-events";
import { InvalidArgumentError, Option } from "commander";
import type { IdKind } from "../brand-lookup.ts";
import { UsageFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/** Options, arguments and help texts that several commands share. */

/** The examples below a command's options: what to type, and what it does. */
export function examples(...lines: readonly (readonly [command: string, what: string])[]): string {
  return `\nExamples:\n${lines.map(([command, what]) => `  # ${what}\n  ${command}`).join("\n\n")}\n`;
}

/** `--brand` where nothing else names the brand. */
export const brandOption = (help: string): Option => new Option("--brand <id>", `${help} (default: $BRAND)`);

/** `--brand` where an id names the brand. */
export const brandCheckOption = (kind: IdKind): Option => new Option("--brand <id>", `fail unless the ${kind} is this brand's`);

export const RECEIVER_HELP = "id of the receiver (rcv_…), see receivers list";
export const DELIVERY_HELP = "id of the delivery (dlv_…), see deliveries list";
export const EVENTS_HELP = `comma-separated event types: ${EVENT_TYPE_NAMES.join(", ")}`;

/**
 * Reads comma-separated event types; empty items are skipped.
 *
 * @throws UsageFailure naming what is no event type
 */
export function parseEventTypes(text: string): string[] {
  const types = text
    .split(",")
    .map((type) => type.trim())
    .filter((type) => type !== "");
  const unknown = types.filter((type) => !isEventType(type));
  const known = `--events takes ${EVENT_TYPE_NAMES.join(", ")}`;
  if (types.length === 0) throw new UsageFailure("--events names no event type", known);
  if (unknown.length > 0) throw new UsageFailure(`${unknown.map((type) => JSON.stringify(type)).join(", ")} is no event type`, known);
  return types;
}

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
