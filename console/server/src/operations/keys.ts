import type { Key } from "@brand-records/proto/accounts/v1";
import type { Services } from "../services.ts";
import type { Handlers, InBrand } from "./operation.ts";

export const KEYS: Handlers<"keys"> = {
  "keys.list": {
    run: ({ accounts }, { call }, { ids = [], ...page }) => accounts.listKeys({ ...page, ids }, call),
  },
  "keys.create": {
    audit: { action: "key.create", created: ({ key }) => key.id, fields: () => ["name", "environment", "permissions"] },
    run({ accounts }, { call, person, config }, { may_prepare, ...input }) {
      const permissions = may_prepare ? ["campaigns:prepare"] : [];
      return accounts.createKey({ ...input, environment: config.ENVIRONMENT, permissions, created_by: person.email }, call);
    },
  },
  "keys.revoke": {
    audit: { action: "key.revoke", subject: ({ key_id }) => key_id },
    run: ({ accounts }, { call, person }, input) => accounts.revokeKey({ ...input, revoked_by: person.email }, call),
  },
};

/** Ids that accounts takes in one call. */
const IDS_MAX = 200;

/** Returns `known`, and the keys of the first 200 of these ids that are not among them. */
export async function withKeysOf(
  { accounts }: Services,
  { brand: { brand_id }, call }: InBrand,
  ids: Iterable<string>,
  known: readonly Key[] = [],
): Promise<readonly Key[]> {
  const isKnown = new Set(known.map(({ id }) => id));
  const missing = [...new Set(ids)].filter((id) => !isKnown.has(id)).slice(0, IDS_MAX);
  if (missing.length === 0) return known;
  const { keys } = await accounts.listKeys({ brand_id, ids: missing }, call);
  return [...known, ...keys];
}
