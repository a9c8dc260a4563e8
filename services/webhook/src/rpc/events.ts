import { AppError } from "@brand-records/errors";
import type { DeadLetterSummary } from "@brand-records/event-log";
import type { DeadLetter as DeadLetterMessage, EventsServiceService } from "@brand-records/proto/webhook/v1";
import type { Handlers } from "@brand-records/rpc";
import { check, nextAfterId } from "@brand-records/service";
import type { WebhookDependencies } from "../dependencies.ts";
import { isEventStored, pageOfEvents } from "../storage/events.ts";
import { fields } from "./fields.ts";

export function eventsHandlers({ db, deadLetters }: Pick<WebhookDependencies, "db" | "deadLetters">): Handlers<EventsServiceService> {
  return {
    async listEvents(request) {
      const { brand_id, type, page_size, after_id } = check(
        { brand_id: fields.brandId, type: fields.type.nullish(), page_size: fields.pageSize, after_id: fields.eventId.nullish() },
        request,
      );
      const events = await pageOfEvents(db, brand_id, { type: type ?? null, afterId: after_id ?? null, limit: page_size });
      // An unknown event is followed by none, which would look like the last page.
      if (events.length === 0 && after_id != null && !(await isEventStored(db, brand_id, after_id, { tests: false }))) {
        throw new AppError("invalid_request", "after_id must be the id of a stored event of this brand", {
          field: "after_id",
        });
      }
      return { events, next_after_id: nextAfterId(events, page_size) };
    },
    async listDeadLetters(request) {
      const { page_size } = check({ page_size: fields.pageSize }, request);
      const { deadLetters: page, total } = await deadLetters.list(page_size);
      return { dead_letters: page.map(messageOf), total };
    },
    async replayDeadLetters() {
      return { replayed: await deadLetters.replay() };
    },
  };
}

const messageOf = ({ deadLetteredAt, ...letter }: DeadLetterSummary): DeadLetterMessage => ({
  ...letter,
  dead_lettered_at: deadLetteredAt,
});
