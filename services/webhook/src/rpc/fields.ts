import { EVENT_TYPE_NAMES, formatInstant, parseInstant } from "@brand-records/resources";
import { AppError } from "@brand-records/errors";
import { idField, nameField, pageSizeField } from "@brand-records/service-runtime";
import { idPattern } from "@brand-records/ids";
import { z } from "zod";
import { DELIVERY_STATES, PAGE_LIMIT, STATUS_CLASSES } from "../domain/delivery.ts";
import { IN_FLIGHT_MAX } from "../domain/lane.ts";

const LABEL_CHARACTERS_MAX = 80;

const eventType = z.enum(EVENT_TYPE_NAMES, `must be one of ${EVENT_TYPE_NAMES.join(", ")}`);
const eventTypes = z.array(eventType).refine((types) => new Set(types).size === types.length, "must name no event type twice");

/** Fields of requests, except the URL of a receiver. */
export const fields = {
  brandId: idField("brd"),
  receiverId: idField("rcv"),
  deliveryId: idField("dlv"),
  replayId: idField("rpl"),
  eventId: idField("evt"),
  recordId: z.string().regex(idPattern("[a-z]{2,3}"), "must be the id of a record, such as sub_…"),
  label: nameField(LABEL_CHARACTERS_MAX),
  type: eventType,
  events: eventTypes.min(1, `must name at least one of ${EVENT_TYPE_NAMES.join(", ")}`),
  changedEvents: eventTypes,
  maxInFlight: z.int().min(1, "must be at least 1").max(IN_FLIGHT_MAX, `must be at most ${IN_FLIGHT_MAX}`),
  held: z.enum(["release", "drop"], "must be release or drop"),
  statusClass: z.enum(STATUS_CLASSES, `must be one of ${STATUS_CLASSES.join(", ")}`),
  state: z.enum(DELIVERY_STATES, `must be one of ${DELIVERY_STATES.join(", ")}`),
  /** An event has at most 20 KiB; clients accept messages of 8 MiB. */
  pageSize: pageSizeField({ default: PAGE_LIMIT, max: 200 }),
  /** Converted to UTC and rounded down to the millisecond: an event of that very millisecond is replayed, not skipped. */
  time: z
    .string()
    .transform((text) => parseInstant(text) ?? Number.NaN)
    .pipe(z.number("must be RFC 3339, such as 2026-11-21T08:30:00Z").min(0, "must be after 1970").transform(formatInstant)),
};

/**
 * Reads the time of a list.
 *
 * @throws AppError `invalid_request` if it ends before it begins: an empty list would look as if there was nothing
 */
export function timeRange(
  from: string | null | undefined,
  to: string | null | undefined,
): { readonly from: string | null; readonly to: string | null } {
  if (from != null && to != null && to <= from) throw new AppError("invalid_request", "to must be after from", { field: "to" });
  return { from: from ?? null, to: to ?? null };
}
