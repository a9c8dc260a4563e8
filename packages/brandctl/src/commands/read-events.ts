import type { Event } from "@brand-records/proto/webhook/v1";
import type { EventsClient } from "../connection/clients.ts";

/** As many as the service answers at once. */
const PAGE_SIZE = 200;

export interface EventsWanted {
  readonly brandId: string;
  readonly type: string | undefined;
  readonly limit: number;
}

/** A brand's newest events, over as many pages as it takes. `mayBeMore`: the limit is why there are no others. */
export async function readEvents(
  client: Pick<EventsClient, "listEvents">,
  { brandId, type, limit }: EventsWanted,
): Promise<{ readonly events: Event[]; readonly mayBeMore: boolean }> {
  const events: Event[] = [];
  let after: string | null | undefined;
  do {
    const page_size = Math.min(PAGE_SIZE, limit - events.length);
    const page = await client.listEvents({ brand_id: brandId, type, page_size, after_id: after });
    events.push(...page.events);
    after = page.next_after_id;
  } while (after != null && events.length < limit);
  return { events, mayBeMore: after != null };
}
