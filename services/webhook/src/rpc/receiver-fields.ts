import { AppError, parseRequest } from "@brand-records/errors";
import { z } from "zod";
import { readReceiverUrl, type UrlProblem, type UrlRules } from "../domain/receiver-url.ts";
import type { NewReceiver, ReceiverChange } from "../domain/receiver.ts";
import { fields } from "./fields.ts";

type Loose<Name extends string> = { readonly [Key in Name]?: unknown };

/** @throws AppError `invalid_request`, `not_https`, `private_address`, `chat_webhook` */
export function readNewReceiver(request: Loose<"brand_id" | "url" | "label" | "events">, rules: UrlRules): NewReceiver {
  const { brand_id, url, label, events } = checkWithUrl(rules, (url) =>
    parseRequest({ brand_id: fields.brandId, url, label: fields.label, events: fields.events }, request),
  );
  return { brandId: brand_id, url, label, events };
}

/** @throws AppError as `readNewReceiver` does */
export function readReceiverChange(
  request: Loose<"brand_id" | "receiver_id" | "url" | "label" | "events" | "max_in_flight">,
  rules: UrlRules,
): ReceiverChange {
  const { brand_id, receiver_id, url, label, events, max_in_flight } = checkWithUrl(rules, (url) =>
    parseRequest(
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
 * Refuses a well-formed URL that a receiver may not have, with the kind of that problem. If anything else is wrong too, the
 * kind is `invalid_request`, and the error lists every problem.
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
