import { AppError, parseRequest } from "@brand-records/errors";
import type { DeadLetterSummary } from "@brand-records/event-log";
import type { DeadLetter as DeadLetterMessage, EventReceiver, EventsServiceService } from "@brand-records/proto/webhook/v1";
import { parsedJson } from "@brand-records/resources";
import type { Handlers } from "@brand-records/rpc";
import { nextAfterId } from "@brand-records/service-runtime";
import { z } from "zod";
import { createHash } from "node:crypto";
import type { WebhookDependencies } from "../dependencies.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { EventFilter, EventPosition } from "../domain/event.ts";
import { getEvent, listEvents, requirePosition } from "../use-cases/read-events.ts";
import { bodyOf, deliveryMessage } from "./delivery-message.ts";
import { fields, timeRange } from "./fields.ts";

export type EventsDependencies = Pick<WebhookDependencies, "db" | "deadLetters" | "deadlineMs" | "publicUrl">;

export function eventsHandlers(deps: EventsDependencies): Handlers<EventsServiceService> {
  const { db, deadLetters, deadlineMs } = deps;
  return {
    async getEvent(request) {
      const { brand_id, event_id } = parseRequest({ brand_id: fields.brandId, event_id: fields.eventId }, request);
      const { event, deliveries, hasMoreDeliveries, targets } = await getEvent(db, { brandId: brand_id, eventId: event_id });
      const byReceiver = Map.groupBy(deliveries, ({ receiver_id }) => receiver_id);
      const receivers = [...byReceiver].map(([receiver_id, all]: [string, Delivery[]]): EventReceiver => {
        const messages = all.map((delivery) => deliveryMessage(delivery, deadlineMs));
        const target = targets.get(receiver_id);
        const host = target === undefined ? null : new URL(target.url).host;
        return { receiver_id, label: target?.label, deliveries: messages, host, paused_until: target?.paused_until };
      });
      return { event, body: bodyOf(event, deps), receivers, has_more_deliveries: hasMoreDeliveries };
    },
    async listEvents(request) {
      const { brand_id, type, record_id, from, to, page_size, after_id, page_token } = parseRequest(listFields, request);
      const { count_receivers: countsReceivers } = request;
      if (after_id != null && page_token != null) {
        throw new AppError("invalid_request", "page_token and after_id exclude each other", { field: "page_token" });
      }
      const filter: EventFilter = { type: type ?? null, recordId: record_id ?? null, ...timeRange(from, to) };
      const scope = [brand_id, filter.type, filter.recordId, filter.from, filter.to];
      const after =
        after_id == null ? readPageToken(page_token, scope) : await requirePosition(db, { brandId: brand_id, eventId: after_id });
      const events = await listEvents(db, brand_id, { ...filter, after, limit: page_size, countsReceivers });
      const last = events.length === page_size ? events.at(-1) : undefined;
      return {
        events,
        next_after_id: nextAfterId(events, page_size),
        next_page_token: last === undefined ? null : pageTokenOf(last, scope),
      };
    },
    async listDeadLetters(request) {
      const { page_size } = parseRequest({ page_size: fields.pageSize }, request);
      const { deadLetters: page, total } = await deadLetters.list(page_size);
      return { dead_letters: page.map(messageOf), total };
    },
    async replayDeadLetters() {
      return { replayed: await deadLetters.replay() };
    },
  };
}

const listFields = {
  brand_id: fields.brandId,
  type: fields.type.nullish(),
  record_id: fields.recordId.nullish(),
  from: fields.time.nullish(),
  to: fields.time.nullish(),
  page_size: fields.pageSize,
  after_id: fields.eventId.nullish(),
  page_token: z.string().nullish(),
};

const messageOf = ({ deadLetteredAt, ...letter }: DeadLetterSummary): DeadLetterMessage => ({
  ...letter,
  dead_lettered_at: deadLetteredAt,
});

const VERSION = 1;

/** Brand and filters of a list. A token continues only the list that it came from. */
type Scope = readonly (string | null)[];

const Token = z.tuple([z.literal(VERSION), fields.time, fields.eventId, z.string()]);

/** Returns the opaque token of the page after this position. */
function pageTokenOf({ created_at, id }: EventPosition, scope: Scope): string {
  return Buffer.from(JSON.stringify([VERSION, created_at, id, digestOf(scope)])).toString("base64url");
}

/**
 * Returns the position of a token, null without one.
 *
 * @throws AppError `invalid_cursor` if it is malformed, or of another brand or with other filters
 */
function readPageToken(token: string | null | undefined, scope: Scope): EventPosition | null {
  if (token == null) return null;
  const read = Token.safeParse(parsedJson(Buffer.from(token, "base64url").toString()));
  if (!read.success || read.data[3] !== digestOf(scope)) {
    throw new AppError("invalid_cursor", "page_token is not one of this list with these filters. Start again without it.", {
      field: "page_token",
    });
  }
  const [, created_at, id] = read.data;
  return { created_at, id };
}

const digestOf = (scope: Scope): string => createHash("sha256").update(JSON.stringify(scope)).digest("base64url").slice(0, 16);
