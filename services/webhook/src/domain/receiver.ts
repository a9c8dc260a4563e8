import { AppError } from "@brand-records/errors";
import type { Receiver as Message } from "@brand-records/proto/webhook/v1";
import type { RowOf } from "@brand-records/proto/rows";

export const RECEIVERS_MAX = 20;

/** A receiver as its brand's members see it: without its secret. */
export type Receiver = RowOf<Message, { readonly disabled_reason: "member" | "gone" | "failing" | null }>;

/** Identifies a receiver together with its brand, so that no look-up omits the brand. */
export interface ReceiverKey {
  readonly brandId: string;
  readonly receiverId: string;
}

export interface NewReceiver {
  readonly brandId: string;
  readonly url: string;
  readonly label: string;
  readonly events: readonly string[];
}

/** Undefined fields stay unchanged. */
export interface ReceiverChange extends ReceiverKey {
  readonly url: string | undefined;
  readonly label: string | undefined;
  readonly events: readonly string[] | undefined;
  readonly maxInFlight: number | undefined;
}

/** The same for another brand's receiver, so that ids cannot be probed. */
export const receiverNotFound = (): AppError => new AppError("not_found", "There is no receiver with this id", { field: "receiver_id" });

/** @throws AppError `not_found` */
export function requireReceiver(receiver: Receiver | undefined): Receiver {
  if (receiver === undefined) throw receiverNotFound();
  return receiver;
}

/** @param what enabled receivers can be, such as "tested" */
export const receiverDisabled = (what: string): AppError =>
  new AppError("receiver_disabled", `The receiver is disabled, and only enabled receivers can be ${what}. Enable it first.`);

export const noNextSecret = (): AppError =>
  new AppError("no_next_secret", "There is no next secret: none was created, or it is already in force. Rotate the secret to create one.");

export const duplicateUrl = (): AppError =>
  new AppError("duplicate_url", "Another receiver of the brand has this URL. Change that one, or choose another URL.", { field: "url" });

/** Tests of a receiver: enough to try it by hand, too few to load a server with someone else's requests. */
export const TESTS_MAX = 10;
/** Length of a window; the limit holds in any stretch of it. */
export const TESTS_SECONDS = 60;

/** The tests of a receiver in the last `TESTS_SECONDS`. */
export interface RecentTests {
  readonly count: number;
  /** Time until there is one fewer; 0 without any. */
  readonly seconds_left: number;
}

/** @throws AppError `rate_limited` if the receiver has had as many as it may */
export function requireRoomForTest({ count, seconds_left }: RecentTests): void {
  if (count < TESTS_MAX) return;
  const retryAfterSeconds = Math.max(1, Math.ceil(seconds_left));
  const message = `A receiver gets at most ${TESTS_MAX} tests in ${TESTS_SECONDS} seconds. Wait ${retryAfterSeconds} s, then send it again.`;
  throw new AppError("rate_limited", message, { retryAfterSeconds });
}
