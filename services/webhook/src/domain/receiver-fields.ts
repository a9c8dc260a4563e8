import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import { AppError } from "@brand-records/errors";
import { check, idField } from "@brand-records/service";
import { z } from "zod";
import type { ReceiverKey } from "./receiver.ts";
import { readReceiverUrl, type UrlProblem, type UrlRules } from "./receiver-url.ts";

const LABEL_CHARACTERS_MAX = 80;
/** Of attempts at once: a lane grows no further. */
const IN_FLIGHT_MAX = 64;

const label = z
  .string()
  .trim()
  .min(1, "must not be empty")
  // Code points, as people count: an emoji is one.
  .refine((text) => [...text].length <= LABEL_CHARACTERS_MAX, `must be at most ${LABEL_CHARACTERS_MAX} characters`)
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not hold control characters");

const events = z
  .array(z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`))
  .refine((types) => new Set(types).size === types.length, "must name no event type twice");

/** What may be said of a receiver, but for its URL. Labels are kept trimmed. */
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

/** What is absent stays as it is. */
export interface ReceiverChange extends ReceiverKey {
  readonly url: string | undefined;
  readonly label: string | undefined;
  readonly events: readonly string[] | undefined;
  readonly maxInFlight: number | undefined;
}

type Loose<Name extends string> = { readonly [Key in Name]?: unknown };

/** @throws AppError `invalid_request`, `not_https`, `private_address`, `chat_webhook` */
export function readNewReceiver(request: Loose<"brand_id" | "url" | "label" | "events">, rules: UrlRules): NewReceiver {
  const { brand_id, url, label, events } = tellingUrlProblems(rules, (url) =>
    check({ brand_id: fields.brandId, url, label: fields.label, events: fields.events }, request),
  );
  return { brandId: brand_id, url, label, events };
}

/** @throws AppError as `readNewReceiver` does */
export function readReceiverChange(
  request: Loose<"brand_id" | "receiver_id" | "url" | "label" | "events" | "max_in_flight">,
  rules: UrlRules,
): ReceiverChange {
  const { brand_id, receiver_id, url, label, events, max_in_flight } = tellingUrlProblems(rules, (url) =>
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

/** A string that becomes the URL as it is kept. */
type UrlField = z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;

/**
 * A URL that is well-formed and may still not be a receiver's is refused with a kind of its own; with `invalid_request` as
 * soon as anything else is wrong as well, so that all of it is told at once.
 */
function tellingUrlProblems<T>(rules: UrlRules, checkWith: (url: UrlField) => T): T {
  let problems: readonly UrlProblem[] = [];
  const url: UrlField = z.string().transform((text, context) => {
    const read = readReceiverUrl(text, rules);
    if ("href" in read) return read.href;
    problems = read.problems;
    for (const { message } of problems) context.addIssue({ code: "custom", message });
    return z.NEVER;
  });
  try {
    return checkWith(url);
  } catch (error) {
    const [first] = problems;
    if (!(error instanceof AppError) || first === undefined) throw error;
    const { message, details = [] } = error;
    const isAll = details.length === problems.length && problems.every(({ kind }) => kind !== "invalid_request");
    if (isAll) throw new AppError(first.kind, message, { field: "url", details });
    throw error;
  }
}
