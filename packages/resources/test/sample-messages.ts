import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from "../src/events/event-types.ts";

export type Message = Record<string, unknown>;

/** A valid message of each type, with the declared example. */
export const MESSAGES = Object.fromEntries(
  EVENT_TYPE_NAMES.map((type): [EventType, Message] => [
    type,
    {
      id: "evt_01m7e9rkgsf6p8ke7n67az5qq0",
      type,
      created_at: "2026-11-21T08:30:00.123Z",
      brand_id: "brd_01k1sem520ecxthczqg3ryfxme",
      data: EVENT_TYPES[type].example("2026-11-21T08:29:59.000Z"),
    },
  ]),
) as Record<EventType, Message>;

/** Returns a copy with the field at a path such as `data.status` set, or removed if `value` is undefined. */
export function altered(message: Message, path: string, value: unknown): Message {
  const [first = "", ...rest] = path.split(".");
  const copy = { ...message, [first]: rest.length === 0 ? value : altered(message[first] as Message, rest.join("."), value) };
  if (rest.length === 0 && value === undefined) delete copy[first];
  return copy;
}

/** The paths of every field of a message, such as `id` and `data.status`. */
export function fieldsOf(message: Message): string[] {
  return [...Object.keys(message), ...Object.keys(message["data"] as Message).map((name) => `data.${name}`)];
}

/** Messages that look like events but are not, each with its fault. The JSON Schema can refuse them all. */
export const BROKEN: readonly (readonly [what: string, message: Message])[] = [
  ...Object.entries(MESSAGES).flatMap(([type, message]) =>
    fieldsOf(message).flatMap((path): [string, Message][] => [
      [`${type} without ${path}`, altered(message, path, undefined)],
      [`${type} with ${path} of another type`, altered(message, path, ["secret"])],
      [
        `${type} with an invalid ${path}`,
        altered(message, path, path.endsWith("previous_status") || path.endsWith("rejection_code") ? 7 : "secret"),
      ],
    ]),
  ),
  ["an unknown type", altered(MESSAGES["payout.paid"], "type", "payout.failed")],
  ["a type of another resource", altered(MESSAGES["payout.paid"], "type", "campaign.settled")],
  ["a resource of another type", altered(MESSAGES["payout.paid"], "data", MESSAGES["campaign.settled"]["data"])],
  ["a type of another status", altered(MESSAGES["submission.approved"], "type", "submission.rejected")],
  ["a status of another type", altered(MESSAGES["submission.approved"], "data.status", "rejected")],
  ["a status without an event", altered(MESSAGES["submission.approved"], "data.status", "withdrawn")],
  ["an id of another kind", altered(MESSAGES["payout.paid"], "data.id", "sub_1")],
  ["an id of 41 characters", altered(MESSAGES["payout.paid"], "data.id", `po_${"0".repeat(41)}`)],
  ["an id in capitals", altered(MESSAGES["payout.paid"], "id", "evt_01M7E9RKGSF6P8KE7N67AZ5QQ0")],
  ["an id that ends with a line break", altered(MESSAGES["payout.paid"], "brand_id", "brd_1\n")],
  ["a negative amount", altered(MESSAGES["payout.paid"], "data.amount_centavos", -1)],
  ["an amount with a fraction", altered(MESSAGES["payout.paid"], "data.amount_centavos", 0.5)],
  ["an amount beyond exact numbers", altered(MESSAGES["payout.paid"], "data.amount_centavos", 2 ** 53)],
  ["an amount as text", altered(MESSAGES["payout.paid"], "data.amount_centavos", "250000")],
  ["another currency", altered(MESSAGES["payout.paid"], "data.currency", "USD")],
  ...[
    "2026-11-21",
    "2026-11-21T08:30:00Z",
    "2026-11-21T08:30:00.123456Z",
    "2026-11-21T08:30:00.123+08:00",
    "2026-11-21 08:30:00.123Z",
    "2026-02-30T08:30:00.123Z",
    "2025-02-29T08:30:00.123Z",
    "2026-13-01T08:30:00.123Z",
    "2026-11-21T24:00:00.000Z",
    "2026-11-21T23:60:00.000Z",
    "2026-11-21T23:59:60.000Z",
  ].map((time): [string, Message] => [`created at ${time}`, altered(MESSAGES["payout.paid"], "created_at", time)]),
  ["an empty object", {}],
];
