import type { Key } from "@brand-records/console-contract";
import type { Key as KeyMessage } from "@brand-records/proto/accounts/v1";
import type { Services } from "../services.ts";
import type { BrandHandler, InBrand } from "./operation.ts";

export const listKeys: BrandHandler<"keys.list"> = {
  async run({ accounts }, { call }, { brand_id, ids = [], page_token }) {
    const { keys, next_page_token } = await accounts.listKeys({ brand_id, ids, page_token }, call);
    return { keys: keys.map(toKey), next_page_token: next_page_token ?? null };
  },
};

/** Ids that accounts takes in one call. */
const IDS_MAX = 200;

/** Returns `known`, and the keys of the first 200 of these ids that are not among them. */
export async function withKeysOf(services: Services, caller: InBrand, ids: Iterable<string>, known: readonly Key[] = []): Promise<Key[]> {
  const isKnown = new Set(known.map(({ id }) => id));
  const missing = [...new Set(ids)].filter((id) => !isKnown.has(id)).slice(0, IDS_MAX);
  if (missing.length === 0) return [...known];
  const { keys } = await listKeys.run(services, caller, { brand_id: caller.brand.brand_id, ids: missing });
  return [...known, ...keys];
}

export const createKey: BrandHandler<"keys.create"> = {
  audit: { action: "key.create", created: ({ key }) => key.id, fields: () => ["name", "environment", "permissions"] },
  async run({ accounts }, { call, person, config }, { brand_id, name, may_prepare }) {
    const permissions = may_prepare ? ["campaigns:prepare"] : [];
    const request = { brand_id, name, environment: config.ENVIRONMENT, permissions, created_by: person.email };
    const { key, secret } = await accounts.createKey(request, call);
    if (key == null) throw new Error("createKey returned no key");
    return { key: toKey(key), secret };
  },
};

export const revokeKey: BrandHandler<"keys.revoke"> = {
  audit: { action: "key.revoke", subject: ({ key_id }) => key_id },
  async run({ accounts }, { call, person }, { brand_id, key_id }) {
    const { key, may_be_accepted_until } = await accounts.revokeKey({ brand_id, key_id, revoked_by: person.email }, call);
    if (key == null) throw new Error("revokeKey returned no key");
    return { key: toKey(key), may_be_accepted_until: may_be_accepted_until ?? null };
  },
};

const toKey = ({ last_used_at, revoked_at, revoked_by, ...key }: KeyMessage): Key => ({
  ...key,
  last_used_at: last_used_at ?? null,
  revoked_at: revoked_at ?? null,
  revoked_by: revoked_by ?? null,
});
