import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import { AppError } from "@brand-records/errors";
import { check, idField } from "@brand-records/service";
import { z } from "zod";
import { IN_FLIGHT_MAX } from "./lane.ts";
import type { ReceiverKey } from "./receiver.ts";
import { readReceiverUrl, type UrlProblem, type UrlRules } from "./receiver-url.ts";

const LABEL_CHARACTERS_MAX = 80;

const label = z
  .string()
  .trim()
  .min(1, "must not be empty")
  // Code points, as people count: one emoji is one character.
  .refine((text) => [...text].length <= LABEL_CHARACTERS_MAX, `must be at most ${LABEL_CHARACTERS_MAX} characters`)
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not contain control characters");

const events = z
  .array(z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`))
  .refine((types) => new Set(types).size === types.length, "must name no event type twice");

/** Fields of a request, except the URL. Labels are trimmed. */
export const fields = {
  brandId: idField("brd"),
  receiverId: idField("rcv"),
  label,
  events: events.min(1, `must name at least one of ${EVENT_TYPE_NAMES.join(", ")}`),
  /** Empty for no change. */
  changedEvents: events,
  maxInFlight: z.int().min(1, "must be at least 1").max(IN_FLIGHT_MAX, `must be at most ${IN_FLIGHT_MAX}`),
  type: z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`),
  held: z.enum(["release", "drop"], "must be release or drop"),
};

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

type Loose<Name extends string> = { readonly [Key in Name]?: unknown };

/** @throws AppError `invalid_request`, `not_https`, `private_address`, `chat_webhook` */
export function readNewReceiver(request: Loose<"brand_id" | "url" | "label" | "events">, rules: UrlRules): NewReceiver {
  const { brand_id, url, label, events } = checkWithUrl(rules, (url) =>
    check({ brand_id: fields.brandId, url, label: fields.label, events: fields.events }, request),
  );
  return { brandId: brand_id, url, label, events };
}

/** @throws AppError as `readNewReceiver` does */
export function readReceiverChange(
  request: Loose<"brand_id" | "receiver_id" | "url" | "label" | "events" | "max_in_flight">,
  rules: UrlRules,
): ReceiverChange {
  const { brand_id, receiver_id, url, label, events, max_in_flight } = checkWithUrl(rules, (url) =>
    check(
      {
        brand_id: fields.brandId,
        receiver_id: fields.receiverId,
        url: url.nullish(),
        label: fields.label.nullish(),
        events: fields.changedEvents,
        max_in_flight: fields.maxInFlight.nullish(),
      },
      request,
    ),
  );
  return {
    brandId: brand_id,
    receiverId: receiver_id,
    url: url ?? undefined,
    label: label ?? undefined,
    events: events.length === 0 ? undefined : events,
    maxInFlight: max_in_flight ?? undefined,
  };
}

/** Transforms a string into the URL as it is stored. */
type UrlField = z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;

/**
 * Refuses a well-formed URL that a receiver may not have with the URL problem's own kind. If anything else is wrong too, refuses with
 * `invalid_request`, so that the error lists every problem.
 */
function checkWithUrl<T>(rules: UrlRules, checkFields: (url: UrlField) => T): T {
  let problems: readonly UrlProblem[] = [];
  const url: UrlField = z.string().transform((text, context) => {
    const read = readReceiverUrl(text, rules);
    if ("href" in read) return read.href;
    problems = read.problems;
    for (const { message } of problems) context.addIssue({ code: "custom", message });
    return z.NEVER;
  });
  try {
    return checkFields(url);
  } catch (error) {
    const [first] = problems;
    if (!(error instanceof AppError) || first === undefined) throw error;
    const { message, details = [] } = error;
    const isOnlyUrl = details.length === problems.length && problems.every(({ kind }) => kind !== "invalid_request");
    if (isOnlyUrl) throw new AppError(first.kind, message, { field: "url", details });
    throw error;
  }
}
