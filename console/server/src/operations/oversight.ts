import type { BrandHandler } from "./operation.ts";

const PAGE_SIZE = 50;

export const listAudit: BrandHandler<"audit.list"> = {
  async run(services, { call }, { brand_id, actor, action, from, to, page_token }) {
    const filters = { actor: actor ?? null, action: action ?? null, from: from ?? null, to: to ?? null };
    const { entries, next_page_token } = await services.audit.listAudit(
      { brand_id, ...filters, page_size: PAGE_SIZE, page_token: page_token ?? null },
      call,
    );
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
      next_page_token: next_page_token ?? null,
    };
  },
};

export const listFailedRequests: BrandHandler<"requests.failed"> = {
  async run(services, { call }, input) {
    const { counted_since, ...failed } = await services.usage.listFailedRequests(input, call);
    return { ...failed, counted_since: counted_since ?? null };
  },
};

export const getUsage: BrandHandler<"usage.get"> = {
  async run(services, { call }, input) {
    const { by_key } = input;
    const { buckets, clients } = await services.usage.getUsage({ ...input, by_client: by_key }, call);
    return { buckets: buckets.map((bucket) => ({ ...bucket, key_id: bucket.key_id ?? null })), ...(by_key && { clients }) };
  },
};
