import { parseRequest } from "@brand-records/errors";
import type { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import type { Handlers } from "@brand-records/rpc";
import { nextAfterId } from "@brand-records/service-runtime";
import { z } from "zod";
import type { AccountsDependencies } from "../dependencies.ts";
import { recordOf } from "../use-cases/audit.ts";
import { changeTier, changeVerified, createBrand, listBrands, listDeletedBrands, requireBrand } from "../use-cases/brands.ts";
import { createKey, keysOf, revokeKey } from "../use-cases/keys.ts";
import { mailSettingsOf, setMailSettings } from "../use-cases/mail.ts";
import { addMember, changeRole, listMemberships, membersOf, removeMember } from "../use-cases/members.ts";
import { fields } from "./fields.ts";

const PAGE_SIZE_DEFAULT = 100;

type AccountsHandlers = Handlers<AccountsServiceService>;

export function accountsHandlers(deps: AccountsDependencies): AccountsHandlers {
  return { ...brandHandlers(deps), ...memberHandlers(deps), ...mailHandlers(deps), ...keyHandlers(deps) };
}

function brandHandlers(
  deps: AccountsDependencies,
): Pick<AccountsHandlers, "createBrand" | "getBrand" | "listBrands" | "setBrandTier" | "setBrandVerified" | "listDeletedBrands"> {
  return {
    async createBrand(request, call) {
      const { id, name, tier, cell = null } = parseRequest(newBrandFields, request);
      return { brand: await createBrand(deps.db, { id, name, tier, verified: request.verified, cell }, recordOf(deps, call)) };
    },
    async getBrand(request) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      return { brand: await requireBrand(deps.db, brand_id) };
    },
    async listBrands(request) {
      const { page_size, after_id } = parseRequest({ page_size: fields.pageSize, after_id: fields.afterId.nullish() }, request);
      const limit = page_size === 0 ? PAGE_SIZE_DEFAULT : page_size;
      const brands = await listBrands(deps.db, after_id ?? "", limit);
      return { brands, next_after_id: nextAfterId(brands, limit) };
    },
    async setBrandTier(request, call) {
      const { brand_id, tier } = parseRequest({ brand_id: fields.brandId, tier: fields.tier }, request);
      const { result: brand, ...until } = await changeTier(deps, brand_id, tier, recordOf(deps, call));
      return { brand, ...until };
    },
    async setBrandVerified(request, call) {
      const { brand_id } = parseRequest({ brand_id: fields.brandId }, request);
      const { result: brand, ...until } = await changeVerified(deps, brand_id, request.verified, recordOf(deps, call));
      return { brand, ...until };
    },
    async listDeletedBrands(request) {
      const { brand_ids } = parseRequest({ brand_ids: fields.brandIds }, request);
      return { brand_ids: await listDeletedBrands(deps.db, brand_ids) };
    },
  };
}

const newBrandFields = { name: fields.brandName, tier: fields.tier, id: fields.brandId.nullish(), cell: fields.cell.nullish() };

function memberHandlers(
  deps: AccountsDependencies,
): Pick<AccountsHandlers, "addMember" | "setMemberRole" | "listMembers" | "removeMember" | "listMemberships"> {
  const { db } = deps;
  return {
    async addMember(request, call) {
      const { acting_member, ...member } = parseRequest({ ...memberFields, role: fields.role }, request);
      return {
        member: await addMember(deps, member, acting_member ?? undefined, {
          onlyNew: request.only_new === true,
          record: recordOf(deps, call),
        }),
      };
    },
    async setMemberRole(request, call) {
      const { acting_member, ...member } = parseRequest({ ...memberFields, role: fields.role }, request);
      return { member: await changeRole(db, member, acting_member ?? undefined, recordOf(deps, call)) };
    },
    async listMembers(request) {
      const { brand_id, email, ...page } = parseRequest(
        { brand_id: fields.brandId, email: fields.email.nullish(), ...pageFields },
        request,
      );
      const { rows, nextPageToken } = await membersOf(db, brand_id, page, email);
      return { members: rows, next_page_token: nextPageToken };
    },
    async removeMember(request, call) {
      const { brand_id, email, acting_member } = parseRequest(memberFields, request);
      await removeMember(db, brand_id, email, acting_member ?? undefined, recordOf(deps, call));
      return {};
    },
    async listMemberships(request) {
      const { email } = parseRequest({ email: fields.email }, request);
      return { memberships: await listMemberships(db, email) };
    },
  };
}

function mailHandlers(deps: AccountsDependencies): Pick<AccountsHandlers, "getMailSettings" | "setMailSettings"> {
  const { db, sendsMail: sends_mail } = deps;
  const ofOwner = { brand_id: fields.brandId, acting_member: fields.email };
  return {
    async getMailSettings(request) {
      const { brand_id, acting_member } = parseRequest(ofOwner, request);
      return { ...(await mailSettingsOf(db, brand_id, acting_member)), sends_mail };
    },
    async setMailSettings(request, call) {
      const { brand_id, acting_member } = parseRequest(ofOwner, request);
      await setMailSettings(db, brand_id, acting_member, request, recordOf(deps, call));
      return {};
    },
  };
}

const pageFields = { page_size: fields.listPageSize, page_token: z.string().nullish() };

const memberFields = { brand_id: fields.brandId, email: fields.email, acting_member: fields.email.nullish() };

function keyHandlers(deps: AccountsDependencies): Pick<AccountsHandlers, "createKey" | "listKeys" | "revokeKey"> {
  return {
    async createKey(request, call) {
      return createKey(deps, parseRequest(newKeyFields, request), recordOf(deps, call));
    },
    async listKeys(request) {
      const { brand_id, ids, ...page } = parseRequest({ brand_id: fields.brandId, ids: fields.keyIds, ...pageFields }, request);
      const { rows, nextPageToken } = await keysOf(deps.db, brand_id, page, ids);
      return { keys: rows, next_page_token: nextPageToken };
    },
    async revokeKey(request, call) {
      const { result: key, ...until } = await revokeKey(deps, parseRequest(revocationFields, request), recordOf(deps, call));
      return { key, ...until };
    },
  };
}

const newKeyFields = {
  brand_id: fields.brandId,
  name: fields.keyName,
  environment: fields.environment,
  permissions: fields.permissions,
  created_by: fields.email,
};

const revocationFields = { key_id: fields.keyId, revoked_by: fields.email, brand_id: fields.brandId.nullish() };
