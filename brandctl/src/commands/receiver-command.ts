import type { Receiver } from "@brand-records/proto/webhook/v1";
import { printable } from "@brand-records/command-line";
import { brandOf } from "../brand-lookup.ts";
import { required } from "../failure.ts";
import { pauseText, type Pause } from "../output/outcome-text.ts";
import { receiversTable } from "../output/receiver-text.ts";
import type { Session } from "../session.ts";
import { idArgument, RECEIVER_HELP } from "./options.ts";

/** What names the receiver of a command. */
export const RECEIVER_ARGUMENTS = [idArgument("receiver", RECEIVER_HELP)];

export interface ReceiverKey {
  readonly brand_id: string;
  readonly receiver_id: string;
}

/** @param brand the value of `--brand` */
export async function receiverKey(session: Session, receiverId: string, brand: string | undefined): Promise<ReceiverKey> {
  return { brand_id: await brandOf(session, "receiver", receiverId, brand), receiver_id: receiverId };
}

interface ReceiverResponse {
  readonly receiver?: Receiver | null | undefined;
}

/** @param more printed beside the receiver with `--json` */
export function printReceiver(session: Session, response: ReceiverResponse, more: object = {}): void {
  const receiver = required(response.receiver, "receiver");
  session.print({ receiver, ...more }, (colors) => receiversTable([receiver], colors));
}

/** Says that what was queued waits, if the receiver is paused. */
export function notePause(session: Session, pause: Pause): void {
  const text = pauseText(pause);
  if (text !== undefined) session.note(({ yellow }) => yellow(`The receiver is ${text}.`));
}

/** Says which URL is called, if the service has normalised the given one. */
export function noteUrl(session: Session, given: string | undefined, { receiver }: ReceiverResponse): void {
  const change = given === undefined ? undefined : urlChange(given, required(receiver, "receiver").url);
  if (change === undefined) return;
  session.note(({ yellow }) => `\n${yellow("The URL is called in its normal form:")}`);
  session.note(() => `  given   ${printable(change.given)}\n  called  ${printable(change.called)}`);
}

/** The secret alone goes to standard output, so that it can be piped to where it is kept. */
export function printSigningSecret(session: Session, response: ReceiverResponse & { readonly secret: string }): void {
  const receiver = required(response.receiver, "receiver");
  const { secret } = response;
  session.note((colors) => `${receiversTable([receiver], colors)}\n`);
  session.print({ id: receiver.id, secret, receiver }, (colors) => colors.bold(colors.yellow(secret)));
  session.note(
    ({ bold }) =>
      `\n${bold("The signing secret is shown once.")} Keep it where the receiver keeps its secrets: with it the receiver verifies\n` +
      "X-Service-Signature, an HMAC over the timestamp, a period and the raw body.",
  );
}

/** Characters that are shown after the host, and after the last difference: lists show no more of what may be a token. */
const REST_CHARACTERS_MAX = 24;

/**
 * Returns a receiver's URL as it was given and as the service calls it; undefined if they are equal. A common end is shortened, because it
 * may be a token.
 */
function urlChange(given: string, called: string): { readonly given: string; readonly called: string } | undefined {
  if (given === called) return undefined;
  let common = 0;
  while (common < Math.min(given.length, called.length) && given.at(-1 - common) === called.at(-1 - common)) common += 1;
  return { given: withoutEnd(given, common), called: withoutEnd(called, common) };
}

function withoutEnd(url: string, common: number): string {
  const hostEnd = /^[a-z]+:\/\/[^/?]*/i.exec(url)?.[0].length ?? 0;
  const end = Math.max(hostEnd, url.length - common);
  const start = url.slice(0, end);
  const rest = url.slice(end);
  const shown = start.includes("?") ? "" : rest.replace(/\?.*$/, "").slice(0, REST_CHARACTERS_MAX);
  return `${start}${shown}${shown === rest ? "" : "…"}`;
}
