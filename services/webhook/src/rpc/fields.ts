import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import { idField } from "@brand-records/service";
import { z } from "zod";
import { DELIVERY_STATES } from "../domain/delivery.ts";
import { IN_FLIGHT_MAX } from "../domain/lane.ts";

const LABEL_CHARACTERS_MAX = 80;
/** An event has at most 20 KiB; clients accept messages of 8 MiB. */
const PAGE_SIZE_MAX = 200;
const PAGE_SIZE_DEFAULT = 50;
/** With seconds and an offset, which zod leaves optional. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const eventType = z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`);
const eventTypes = z.array(eventType).refine((types) => new Set(types).size === types.length, "must name no event type twice");

/** Fields of requests, except the URL of a receiver. */
export const fields = {
  brandId: idField("brd"),
  receiverId: idField("rcv"),
  deliveryId: idField("dlv"),
  replayId: idField("rpl"),
  eventId: idField("evt"),
  /** Trimmed. */
  label: z
    .string()
    .trim()
    .min(1, "must not be empty")
    // Code points, as people count: one emoji is one character.
    .refine((text) => [...text].length <= LABEL_CHARACTERS_MAX, `must be at most ${LABEL_CHARACTERS_MAX} characters`)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not contain control characters"),
  type: eventType,
  events: eventTypes.min(1, `must name at least one of ${EVENT_TYPE_NAMES.join(", ")}`),
  /** Empty for no change. */
  changedEvents: eventTypes,
  maxInFlight: z.int().min(1, "must be at least 1").max(IN_FLIGHT_MAX, `must be at most ${IN_FLIGHT_MAX}`),
  held: z.enum(["release", "drop"], "must be release or drop"),
  state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(", ")}`),
  /** 0 means the default. */
  pageSize: z
    .int()
    .min(0, "must not be negative")
    .max(PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)
    .transform((size) => size || PAGE_SIZE_DEFAULT),
  /** Converted to UTC and rounded down to the millisecond: an event of that very millisecond is replayed, not skipped. */
  since: z
    .string()
    .refine((text) => RFC_3339.test(text) && z.iso.datetime({ offset: true }).safeParse(text).success, {
      error: "must be RFC 3339, such as 2026-11-21T08:30:00Z",
      abort: true,
    })
    .refine((text) => Date.parse(text) >= 0, "must be after 1970")
    .transform((text) => new Date(text).toISOString()),
};
