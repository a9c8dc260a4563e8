import type { Receiver } from "@brand-records/console-contract";
import type { Services } from "../services.ts";
import { listKeys } from "./keys.ts";
import type { BrandHandler, InBrand } from "./operation.ts";
import { getUsage } from "./oversight.ts";
import { listPlans } from "./plans.ts";
import { listReceivers } from "./receivers.ts";

/** Bars of the page of usage: the last 24 hours begin and end with one on both pages, so that their sums agree. */
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

/** Keys and receivers are the page; without usage or plans it still says most. */
export const getOverview: BrandHandler<"overview.get"> = {
  async run(services, caller, { brand_id }) {
    const [{ keys }, { receivers, has_accepted }, usage, plans_pending] = await Promise.all([
      listKeys.run(services, caller, { brand_id }),
      receiversOf(services, caller, brand_id),
      usageOf(services, caller, brand_id).catch(() => null),
      listPlans.run(services, caller, { brand_id, status: "pending" }).then(
        ({ pending }) => pending,
        () => null,
      ),
    ]);
    return { keys, receivers, has_accepted, usage, plans_pending };
  },
};

async function receiversOf(services: Services, caller: InBrand, brand_id: string) {
  const { receivers } = await listReceivers.run(services, caller, { brand_id });
  return { receivers, has_accepted: await hasAccepted(services, caller, receivers) };
}

async function hasAccepted({ deliveries }: Services, { call, brand }: InBrand, receivers: readonly Receiver[]): Promise<boolean> {
  if (receivers.some(({ last_outcome }) => last_outcome === "accepted")) return true;
  const filters = { type: null, from: null, to: null, event_id: null, state: null, page_size: 1, after_id: null };
  const delivered = await Promise.all(
    receivers
      .filter(({ last_delivery_at }) => last_delivery_at !== null)
      .map(({ id }) => deliveries.listDeliveries({ ...filters, brand_id: brand.brand_id, receiver_id: id, states: ["delivered"] }, call)),
  );
  return delivered.some(({ deliveries: found }) => found.length > 0);
}

async function usageOf(services: Services, caller: InBrand, brand_id: string) {
  const to = (Math.floor(Date.now() / QUARTER_MS) + 1) * QUARTER_MS;
  const range = { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
  const { buckets } = await getUsage.run(services, caller, { brand_id, ...range, bucket_minutes: 60, by_key: false });
  return { from: range.from, buckets };
}
