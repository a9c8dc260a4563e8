import type { Receiver } from "@brand-records/proto/webhook/v1";
import { Command } from "commander";
import { UsageFailure } from "../failure.ts";
import { receiverColumns } from "../output/receiver-text.ts";
import { table } from "../output/table.ts";
import type { Session } from "../session.ts";
import { EVENT_TYPES } from "./event-types.ts";

export const RECEIVER_HELP = "id of the receiver (rcv_…), as receivers list shows it";
export const EVENTS_HELP = `what it gets, comma-separated: ${EVENT_TYPES.join(", ")}`;

/** A command about one receiver. */
export const ofReceiver = (name: string, summary: string): Command =>
  new Command(name).summary(summary).argument("<receiver>", RECEIVER_HELP).requiredOption("--brand <id>", "the brand whose receiver it is");

/**
 * Event types, comma-separated; a comma too many is none.
 *
 * @throws UsageFailure naming what is no event type
 */
export function typesIn(text: string): string[] {
  const types = text
    .split(",")
    .map((type) => type.trim())
    .filter((type) => type !== "");
  const unknown = types.filter((type) => !EVENT_TYPES.includes(type));
  const known = `--events takes ${EVENT_TYPES.join(", ")}`;
  if (types.length === 0) throw new UsageFailure("--events names no event type", known);
  if (unknown.length > 0) throw new UsageFailure(`${unknown.map((type) => JSON.stringify(type)).join(", ")} is no event type`, known);
  return types;
}

export function show(session: Session, receiver: Receiver): void {
  session.print({ receiver }, (colors) => table(receiverColumns(colors), [receiver], colors, ""));
}

/** The secret alone on standard output, so that it can be piped to where it is kept. */
export function showSecret(session: Session, receiver: Receiver, secret: string): void {
  session.note((colors) => `${table(receiverColumns(colors), [receiver], colors, "")}\n`);
  session.print({ id: receiver.id, secret, receiver }, (colors) => colors.bold(colors.yellow(secret)));
  session.note(
    ({ bold }) =>
      `\n${bold("The signing secret is shown once.")} Keep it where the receiver keeps its secrets: with it the receiver checks that a\n` +
      "delivery comes from here, by X-Service-Signature over the timestamp, a period and the raw body.",
  );
}

export function answered(receiver: Receiver | null | undefined): Receiver {
  if (receiver == null) throw new Error("webhook answered without a receiver");
  return receiver;
}
