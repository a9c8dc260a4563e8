import type { Delivery } from "@brand-records/proto/webhook/v1";
import type { DeliveriesClient } from "../connection/clients.ts";

/** As many as the service answers at once. */
const PAGE_SIZE = 200;

export interface DeliveriesWanted {
  readonly brandId: string;
  readonly receiverId: string;
  readonly state: string | undefined;
  readonly limit: number;
}

/** A receiver's newest deliveries, over as many pages as it takes. `mayBeMore`: the limit is why there are no others. */
export async function readDeliveries(
  client: Pick<DeliveriesClient, "listDeliveries">,
  { brandId, receiverId, state, limit }: DeliveriesWanted,
): Promise<{ readonly deliveries: Delivery[]; readonly mayBeMore: boolean }> {
  const deliveries: Delivery[] = [];
  let after: string | null | undefined;
  do {
    const page_size = Math.min(PAGE_SIZE, limit - deliveries.length);
    const page = await client.listDeliveries({ brand_id: brandId, receiver_id: receiverId, state, page_size, after_id: after });
    deliveries.push(...page.deliveries);
    after = page.next_after_id;
  } while (after != null && deliveries.length < limit);
  return { deliveries, mayBeMore: after != null };
}
