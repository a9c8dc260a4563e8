import type { Key } from "@brand-records/console-contract";
import type { Key as KeyMessage } from "@brand-records/proto/accounts/v1";
import type { BrandHandler } from "./operation.ts";

export const listKeys: BrandHandler<"keys.list"> = {
  async run({ accounts }, { call }, { brand_id }) {
    const { keys } = await accounts.listKeys({ brand_id }, call);
    return { keys: keys.map(toKey) };
  },
};

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
