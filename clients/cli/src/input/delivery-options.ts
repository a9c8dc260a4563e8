import { EVENT_TYPES } from "@brand-records/client";
import { UsageFailure } from "@brand-records/command-line";
import { Argument, Option, type Command } from "commander";
import { RESPONSE_SECONDS_MAX } from "../deliveries/post-delivery.ts";

/** Options of the commands that send deliveries, as they are given. */
export interface DeliveryOptions {
  readonly to: string;
  readonly secretFile: string;
  readonly nextSecretFile?: string;
  readonly live?: true;
  readonly timeout: string;
  readonly headerWord: string;
}

/** Options of `events send`, as they are given. */
export interface SendOptions extends DeliveryOptions {
  readonly body?: string;
}

/** Options of `events verify`, as they are given. */
export interface VerifyOptions {
  readonly secretFile: string;
  readonly headers: string;
  readonly body: string;
  readonly at?: string;
  readonly headerWord: string;
}

export const typeArgument = (): Argument => new Argument("<type>", "the event's type").choices(EVENT_TYPES);
export const typeOption = (): Option =>
  new Option("--type <type>", "a type that the receiver is configured for").choices(EVENT_TYPES).default("payout.paid");

export const headerWordOption = (): Option =>
  new Option("--header-word <word>", "the word in X-<word>-Signature, if your operator chose another").default("Service");

export const secretOption = (): Option =>
  new Option("--secret-file <file>", "the receiver's signing secret, whsec_…; - for standard input").makeOptionMandatory();

export function addDeliveryOptions(command: Command): Command {
  return command
    .requiredOption("--to <url>", "the receiver")
    .addOption(secretOption())
    .option("--next-secret-file <file>", "the next secret too, during a rotation")
    .option("--live", "not marked as a test: the receiver acts on it")
    .addOption(new Option("--timeout <seconds>", "for a whole response").default(String(RESPONSE_SECONDS_MAX)))
    .addOption(headerWordOption());
}

/** @returns milliseconds @throws UsageFailure */
export function timeoutMs({ timeout }: Pick<DeliveryOptions, "timeout">): number {
  const seconds = /^\d{1,3}(\.\d)?$/.test(timeout) ? Number(timeout) : 0;
  if (seconds <= 0) throw new UsageFailure("--timeout must be a number of seconds, up to 999");
  return seconds * 1_000;
}
