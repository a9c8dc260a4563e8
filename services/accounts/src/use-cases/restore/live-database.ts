import { ConfigError } from "@brand-records/config";
import type { Sql } from "@brand-records/postgres";
import type { Brand, Member } from "../../domain/brand.ts";
import type { Key } from "../../domain/key.ts";
import type { LostRight, LostRights, OpenQuestion } from "../../domain/lost-rights.ts";
import { pageOfBrands } from "../../storage/brands.ts";
import { pageOfIdentities } from "../../storage/identities.ts";
import { pageOfUnrevokedKeys } from "../../storage/keys.ts";
import { placeOf, type BoundIdentity, type LiveRights } from "../../storage/live-rights.ts";
import { pageOfAllMembers } from "../../storage/members.ts";

const PAGE_SIZE = 1_000;

/**
 * Compares the restored database with a live one, which has what has happened since: its old schema, or a server that is being replaced.
 *
 * @param newestEntryAt of the restored audit log, RFC 3339; null: it is empty
 * @throws ConfigError if the live one is the restored itself, or older: it would take away nothing, or what was given since
 */
export async function lostRightsIn(live: LiveRights, restored: Sql, newestEntryAt: string | null): Promise<LostRights> {
  if ((await live.place()) === (await placeOf(restored, "accounts"))) {
    throw new ConfigError(["--live: this is the restored schema itself. Name the old one, as with --live-schema accounts_before"]);
  }
  await requireNewer(live, newestEntryAt);
  const lost = [...(await lostKeys(live, restored)), ...(await lostMemberships(live, restored)), ...(await lostIdentities(live, restored))];
  for (const brandId of await live.deletedBrands()) lost.push({ right: "brand", brandId });
  return { lost, open: await changedBrands(live, restored) };
}

async function requireNewer(live: LiveRights, newestEntryAt: string | null): Promise<void> {
  const newest = await live.newestEntryAt();
  if (newestEntryAt === null || (newest !== null && newest >= newestEntryAt)) return;
  throw new ConfigError([
    `--live: its newest audit entry is of ${newest ?? "no time: it has none"}, and the restored database has one of ${newestEntryAt}. Is it the right one?`,
  ]);
}

async function lostKeys(live: LiveRights, restored: Sql): Promise<LostRight[]> {
  const lost: LostRight[] = [];
  for await (const keys of pages<Key>((last) => pageOfUnrevokedKeys(restored, last?.id ?? "", PAGE_SIZE))) {
    const revoked = new Set(await live.revokedAmong(keys.map(({ id }) => id)));
    for (const { id, brand_id } of keys) if (revoked.has(id)) lost.push({ right: "key", brandId: brand_id, keyId: id });
  }
  return lost;
}

async function lostMemberships(live: LiveRights, restored: Sql): Promise<LostRight[]> {
  const lost: LostRight[] = [];
  for await (const members of pages<Member>((last) => pageOfAllMembers(restored, last, PAGE_SIZE))) {
    const asked = members.map(({ brand_id, email }) => ({ brand_id, email }));
    const roles = new Map((await live.rolesOf(asked)).map(({ brand_id, email, role }) => [nameOf(brand_id, email), role]));
    for (const { brand_id, email, role } of members) {
      const now = roles.get(nameOf(brand_id, email));
      if (now === undefined) lost.push({ right: "membership", brandId: brand_id, email });
      else if (role === "owner" && now !== "owner") lost.push({ right: "ownership", brandId: brand_id, email });
    }
  }
  return lost;
}

async function lostIdentities(live: LiveRights, restored: Sql): Promise<LostRight[]> {
  const people = new Set<string>();
  for await (const identities of pages<BoundIdentity>((last) => pageOfIdentities(restored, last, PAGE_SIZE))) {
    const bound = new Set((await live.boundAmong(identities)).map(({ issuer, subject }) => nameOf(issuer, subject)));
    for (const { issuer, subject, email } of identities) if (!bound.has(nameOf(issuer, subject))) people.add(email);
  }
  return [...people].map((email) => ({ right: "identities", email }));
}

/** A tier or a verification is another: which one is right now is for a person to say. */
async function changedBrands(live: LiveRights, restored: Sql): Promise<OpenQuestion[]> {
  const open: OpenQuestion[] = [];
  for await (const brands of pages<Brand>((last) => pageOfBrands(restored, last?.id ?? "", PAGE_SIZE))) {
    const now = new Map((await live.brandsAmong(brands.map(({ id }) => id))).map((brand) => [brand.id, brand]));
    for (const { id, tier, verified } of brands) {
      const other = now.get(id) ?? { tier, verified };
      const question = { brand_id: id, subject_id: id, created_at: null };
      if (other.tier !== tier) open.push({ ...question, action: "brand.set_tier" });
      if (other.verified !== verified) open.push({ ...question, action: "brand.set_verified" });
    }
  }
  return open;
}

const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);

async function* pages<Row>(read: (last: Row | undefined) => Promise<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  for (let page = await read(undefined); page.length > 0; page = await read(page.at(-1))) yield page;
}
