import { EVENT_TYPES } from "@brand-records/client";
import { choice, flag, mandatory, option, UsageFailure, withDefault, type Declared, type Values } from "@brand-records/command-line";
import { Argument } from "commander";
import { RESPONSE_SECONDS_MAX } from "../deliveries/post-delivery.ts";

export const typeArgument = (): Argument => new Argument("[type]", "the event's type, for sample data").choices(EVENT_TYPES);

export const typeOption = (): Declared<string> =>
  withDefault(choice("--type <type>", "a type that the receiver is configured for", EVENT_TYPES), "payout.paid");

export const headerWordOption = (): Declared<string> =>
  withDefault(option("--header-word <word>", "the word in X-<word>-Signature, if your operator chose another"), "Service");

export const secretOption = (): Declared<string> =>
  mandatory(option("--secret-file <file>", "the receiver's signing secret, whsec_…; - for standard input"));

/** Options of the commands that send deliveries. */
export const DELIVERY_OPTIONS = {
  to: mandatory(option("--to <url>", "the receiver")),
  secretFile: secretOption(),
  nextSecretFile: option("--next-secret-file <file>", "the next secret too, during a rotation"),
  live: flag("--live", "not marked as a test: the receiver acts on it"),
  brand: withDefault(option("--brand <id>", "the brand_id in sample data, if the receiver checks it"), "brd_test"),
  timeout: withDefault(option("--timeout <seconds>", "for a whole response"), String(RESPONSE_SECONDS_MAX)),
  headerWord: headerWordOption(),
};

export type DeliveryOptions = Values<typeof DELIVERY_OPTIONS>;

/** @returns milliseconds @throws UsageFailure */
export function timeoutMs({ timeout }: Pick<DeliveryOptions, "timeout">): number {
  const seconds = /^\d{1,3}(\.\d)?$/.test(timeout) ? Number(timeout) : 0;
  if (seconds <= 0) throw new UsageFailure("--timeout must be a number of seconds, up to 999");
  return seconds * 1_000;
}
