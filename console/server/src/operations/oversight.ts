import { listKeys, withKeysOf } from "./keys.ts";
import type { BrandHandler } from "./operation.ts";

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
