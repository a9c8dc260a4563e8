import type { Receiver } from "@brand-records/console-contract";
import { listKeys, withKeysOf } from "./keys.ts";
import type { BrandHandler, InBrand } from "./operation.ts";
import type { Services } from "../services.ts";
import { listPlans } from "./plans.ts";
import { listReceivers } from "./receivers.ts";

const PAGE_SIZE = 50;

export const listAudit: BrandHandler<"audit.list"> = {
  async run(services, caller, { brand_id, actor, action, from, to, page_token }) {
    const filters = { actor: actor ?? null, action: action ?? null, from: from ?? null, to: to ?? null };
    const { entries, next_page_token } = await services.audit.listAudit(
      { brand_id, ...filters, page_size: PAGE_SIZE, page_token: page_token ?? null },
      caller.call,
    );
    const subjects = entries.flatMap(({ subject_id }) => (subject_id?.startsWith("key_") === true ? [subject_id] : []));
    return {
      entries: entries.map((entry) => ({
        ...entry,
        actor: entry.actor ?? null,
        via: entry.via ?? null,
        subject_id: entry.subject_id ?? null,
        address: entry.address ?? null,
        outcome: entry.outcome ?? null,
        error_kind: entry.error_kind ?? null,
        browser: entry.browser ?? null,
        role: entry.role ?? null,
        finished_at: entry.finished_at ?? null,
      })),
      keys: await withKeysOf(services, caller, subjects),
      next_page_token: next_page_token ?? null,
    };
  },
};

export const listFailedRequests: BrandHandler<"requests.failed"> = {
  async run(services, caller, input) {
    const [{ counted_since, ...failed }, { keys }] = await Promise.all([
      services.usage.listFailedRequests(input, caller.call),
      listKeys.run(services, caller, { brand_id: input.brand_id }),
    ]);
    const ids = failed.groups.map(({ key_id }) => key_id);
    return { ...failed, keys: await withKeysOf(services, caller, ids, keys), counted_since: counted_since ?? null };
  },
};

export const getUsage: BrandHandler<"usage.get"> = {
  async run(services, caller, input) {
    const { by_key, brand_id } = input;
    const [{ buckets: counted, clients }, { keys }] = await Promise.all([
      services.usage.getUsage({ ...input, by_client: by_key }, caller.call),
      by_key ? listKeys.run(services, caller, { brand_id }) : { keys: [] },
    ]);
    const buckets = counted.map((bucket) => ({ ...bucket, key_id: bucket.key_id ?? null }));
    if (!by_key) return { buckets, keys };
    const ids = [...buckets, ...clients].flatMap(({ key_id }) => key_id ?? []);
    return { buckets, keys: await withKeysOf(services, caller, ids, keys), clients };
  },
};

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
