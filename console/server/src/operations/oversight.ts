import { withKeysOf } from "./keys.ts";
import type { Handlers, InBrand } from "./operation.ts";
import type { Services } from "../services.ts";
import { RECEIVERS } from "./receivers.ts";

const PAGE_SIZE = 50;

/** Bars of the page of usage: the last 24 hours begin and end with one on both pages, so that their sums agree. */
const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;

export const OVERSIGHT: Handlers<"audit" | "requests" | "usage" | "overview"> = {
  "audit.list": {
    async run(services, caller, input) {
      const listed = await services.audit.listAudit({ ...input, page_size: PAGE_SIZE }, caller.call);
      const subjects = listed.entries.flatMap(({ subject_id }) => (subject_id?.startsWith("key_") === true ? [subject_id] : []));
      return { ...listed, keys: await withKeysOf(services, caller, subjects) };
    },
  },
  "requests.failed": {
    async run(services, caller, input) {
      const [failed, { keys }] = await Promise.all([services.usage.listFailedRequests(input, caller.call), firstKeys(services, caller)]);
      const ids = failed.groups.map(({ key_id }) => key_id);
      return { ...failed, keys: await withKeysOf(services, caller, ids, keys) };
    },
  },
  "usage.get": {
    async run(services, caller, input) {
      const { by_key } = input;
      const [{ buckets, clients }, { keys }] = await Promise.all([
        services.usage.getUsage({ ...input, by_client: by_key }, caller.call),
        by_key ? firstKeys(services, caller) : { keys: [] },
      ]);
      if (!by_key) return { buckets, keys };
      const ids = [...buckets, ...clients].flatMap(({ key_id }) => key_id ?? []);
      return { buckets, keys: await withKeysOf(services, caller, ids, keys), clients };
    },
  },
  /** Keys and receivers are the page; without usage or plans it still says most. */
  "overview.get": {
    async run(services, caller, { brand_id }) {
      const pending = { brand_id, acting_member: caller.person.email, status: "pending", page_size: 1 };
      const [{ keys }, receivers, usage, plans] = await Promise.all([
        firstKeys(services, caller),
        receiversOf(services, caller),
        usageOf(services, caller).catch(() => null),
        services.plans.listPlanSummaries(pending, caller.call).catch(() => null),
      ]);
      return { keys, ...receivers, usage, plans_pending: plans?.pending };
    },
  },
};

/** The first page of the brand's keys: those in use, if it has not hundreds. */
const firstKeys = ({ accounts }: Services, { brand: { brand_id }, call }: InBrand) => accounts.listKeys({ brand_id, ids: [] }, call);

async function receiversOf(services: Services, caller: InBrand) {
  const { call, brand } = caller;
  const { receivers } = await RECEIVERS["receivers.list"].run(services, caller, { brand_id: brand.brand_id });
  if (receivers.some(({ last_outcome }) => last_outcome === "accepted")) return { receivers, has_accepted: true };
  const filters = { brand_id: brand.brand_id, states: ["delivered"], page_size: 1 };
  const delivered = await Promise.all(
    receivers
      .filter(({ last_delivery_at }) => last_delivery_at != null)
      .map(({ id }) => services.deliveries.listDeliveries({ ...filters, receiver_id: id }, call)),
  );
  return { receivers, has_accepted: delivered.some(({ deliveries: found }) => found.length > 0) };
}

async function usageOf({ usage }: Services, { brand: { brand_id }, call }: InBrand) {
  const to = (Math.floor(Date.now() / QUARTER_MS) + 1) * QUARTER_MS;
  const range = { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
  const { buckets } = await usage.getUsage({ brand_id, ...range, bucket_minutes: 60, by_key: false, by_client: false }, call);
  return { from: range.from, buckets };
}
