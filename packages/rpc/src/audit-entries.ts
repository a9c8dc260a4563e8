import type { EntryFacts } from "@brand-records/proto/methods";
import { type Person, holdsSecret, type PlannedEntry } from "./call-context.ts";

type Request = Readonly<Record<string, unknown>>;

/** Returns the entry of a call: nothing in it is what the caller says of itself. */
export function plannedEntry(facts: EntryFacts, request: Request, person: Person | undefined, requestId: string): PlannedEntry {
  const { action, subject = "", fields, role, ofSelf } = facts;
  const subject_id = textIn(request, subject);
  return {
    action: ofSelf !== undefined && subject_id === person?.email ? ofSelf : action,
    brand_id: person?.brand?.id ?? textIn(request, "brand_id"),
    actor: person?.email ?? null,
    via: person?.via ?? null,
    subject_id,
    fields: fields.flatMap((name) => namesOf(name, request[name])),
    role: (role !== undefined && textIn(request, role)) || null,
    request_id: requestId,
    address: person?.client.address ?? null,
    browser: person?.client.browser ?? null,
  };
}

const NAME_LENGTH_MAX = 254;

/** An id or an address, in small letters as they are stored: what is none is refused by the handler, with a better message. */
function textIn(request: Request, name: string): string | undefined {
  const sent = request[name];
  // A letter may become several.
  const value = typeof sent === "string" && sent.length <= NAME_LENGTH_MAX ? sent.toLowerCase() : "";
  if (value.length > NAME_LENGTH_MAX || !/^[^\s\p{Cc}]+$/u.test(value)) return undefined;
  const isSecret = !value.includes("@") && [String(sent), value].some(holdsSecret);
  return isSecret ? undefined : value;
}

/** The name of a field that the call gives; of a message, the names of those in it. */
function namesOf(name: string, value: unknown): string[] {
  if (value == null || (Array.isArray(value) && value.length === 0)) return [];
  if (typeof value !== "object" || Array.isArray(value)) return [name];
  return Object.entries(value).flatMap(([inner, each]) => (each == null ? [] : [inner]));
}
