import { AppError } from "@brand-records/errors";
import type { AccountsServiceService, Key as KeyMessage } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { check } from "@brand-records/service";
import { newId } from "@brand-records/typeid";
import { fields, type Brand } from "../domain/brand.ts";
import { changeBrand, noSuchBrand } from "../domain/change-brand.ts";
import { createKey } from "../domain/create-key.ts";
import type { Key } from "../domain/key.ts";
import { addMember, removeMember } from "../domain/members.ts";
import { revokeKey } from "../domain/revoke-key.ts";
import type { Parts } from "../parts.ts";
import { findBrand, insertBrand, pageOfBrands, setTier, setVerified } from "../storage/brands.ts";
import { listKeys } from "../storage/keys.ts";
import { listMembers } from "../storage/members.ts";

const PAGE_SIZE_DEFAULT = 100;

type AccountsHandlers = Handlers<AccountsServiceService>;

export function accountsHandlers(parts: Parts): AccountsHandlers {
  return { ...brandHandlers(parts), ...memberHandlers(parts), ...keyHandlers(parts) };
}

function brandHandlers(
  parts: Parts,
): Pick<AccountsHandlers, "createBrand" | "getBrand" | "listBrands" | "setBrandTier" | "setBrandVerified"> {
  return {
    async createBrand(request) {
      const input = check({ name: fields.brandName, tier: fields.tier, id: fields.brandId.nullish() }, request);
      const { name, tier } = input;
      const id = input.id ?? newId("brd");
      const made = await insertBrand(parts.db, { id, name, tier, verified: request.verified });
      if (made !== undefined) return { brand: made };
      const existing = await findBrand(parts.db, id);
      if (existing?.name !== name) throw new AppError("already_exists", "Another brand has this id", { field: "id" });
      return { brand: existing };
    },
    async getBrand(request) {
      const { brand_id } = check({ brand_id: fields.brandId }, request);
      return { brand: existing(await findBrand(parts.db, brand_id)) };
    },
    async listBrands(request) {
      const { page_size, after_id } = check({ page_size: fields.pageSize, after_id: fields.afterId.nullish() }, request);
      const limit = page_size === 0 ? PAGE_SIZE_DEFAULT : page_size;
      const brands = await pageOfBrands(parts.db, after_id ?? "", limit);
      return { brands, next_after_id: brands.length === limit ? (brands.at(-1)?.id ?? null) : null };
    },
    async setBrandTier(request) {
      const { brand_id, tier } = check({ brand_id: fields.brandId, tier: fields.tier }, request);
      return { brand: existing(await changeBrand(parts, brand_id, (sql) => setTier(sql, brand_id, tier))) };
    },
    async setBrandVerified(request) {
      const { brand_id } = check({ brand_id: fields.brandId }, request);
      return { brand: existing(await changeBrand(parts, brand_id, (sql) => setVerified(sql, brand_id, request.verified))) };
    },
  };
}

function memberHandlers(parts: Parts): Pick<AccountsHandlers, "addMember" | "listMembers" | "removeMember"> {
  return {
    async addMember(request) {
      const member = check({ brand_id: fields.brandId, email: fields.email, role: fields.role }, request);
      return { member: await addMember(parts, member) };
    },
    async listMembers(request) {
      const { brand_id } = check({ brand_id: fields.brandId }, request);
      existing(await findBrand(parts.db, brand_id));
      return { members: await listMembers(parts.db, brand_id) };
    },
    async removeMember(request) {
      const { brand_id, email } = check({ brand_id: fields.brandId, email: fields.email }, request);
      await removeMember(parts, brand_id, email);
      return {};
    },
  };
}

function keyHandlers(parts: Parts): Pick<AccountsHandlers, "createKey" | "listKeys" | "revokeKey"> {
  return {
    async createKey(request) {
      const input = check(
        {
          brand_id: fields.brandId,
          name: fields.keyName,
          environment: fields.environment,
          permissions: fields.permissions,
          created_by: fields.email,
        },
        request,
      );
      const { key, secret } = await createKey(parts, { ...input, brandId: input.brand_id, createdBy: input.created_by });
      return { key: messageOf(key), secret };
    },
    async listKeys(request) {
      const { brand_id } = check({ brand_id: fields.brandId }, request);
      existing(await findBrand(parts.db, brand_id));
      return { keys: (await listKeys(parts.db, brand_id)).map(messageOf) };
    },
    async revokeKey(request) {
      const { key_id, revoked_by } = check({ key_id: fields.keyId, revoked_by: fields.email }, request);
      return { key: messageOf(await revokeKey(parts, key_id, revoked_by)) };
    },
  };
}

function existing(brand: Brand | undefined): Brand {
  if (brand === undefined) throw noSuchBrand();
  return brand;
}

const messageOf = (key: Key): KeyMessage => ({ ...key, permissions: [...key.permissions] });
