import { keyDigest, keyEnvironment, newId } from "@brand-records/ids";
import type { Sql } from "@brand-records/postgres";
import { callBehind, expectRefusal, servedAccounts, settled, type TestBrand } from "../../test/serve-accounts.ts";
import { deleteKeysOf } from "../storage/brand-deletions.ts";
import { eraseFromKeys } from "../storage/erasures.ts";
import { writeLastUses } from "../storage/keys.ts";

const ANA = "ana@example.ph";

const served = servedAccounts();

const createKey = (brand: TestBrand, more: object = {}) =>
  served.accounts.createKey({
    brand_id: brand.id,
    name: "Reports",
    environment: "live",
    permissions: [],
    created_by: brand.owner,
    ...more,
  });
const revoke = (key_id: string, revoked_by: string, brand_id?: string) => served.accounts.revokeKey({ key_id, revoked_by, brand_id });
const list = ({ id }: TestBrand, more: { ids?: string[]; page_size?: number; page_token?: string } = {}) =>
  served.accounts.listKeys({ brand_id: id, ids: [], ...more });
const keysOf = async (brand: TestBrand) => (await list(brand)).keys;
const addMember = ({ id }: TestBrand, role: string) => served.accounts.addMember({ brand_id: id, email: ANA, role });

describe("createKey", () => {
  it.each(["live", "test"])("creates a %s key that may read records, and returns it in this response only", async (environment) => {
    const brand = await served.createBrand();
    const { key, secret } = await createKey(brand, { environment, name: "  Monthly report " });
    expect(keyEnvironment(secret)).toBe(environment);
    expect(key).toMatchObject({
      id: expect.stringMatching(/^key_/),
      brand_id: brand.id,
      environment,
      name: "Monthly report",
      permissions: ["records:read"],
      hint: `brk_${environment}_…${secret.slice(-4)}`,
      created_by: brand.owner,
      last_used_at: null,
      revoked_at: null,
      revoked_by: null,
    });
    expect(await keysOf(brand)).toEqual([key]);
  });

  it("stores neither the key nor its digest in any column", async () => {
    const { secret } = await createKey(await served.createBrand());
    const tables = await served.db.query<{ name: string }>(
      "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'accounts'",
    );
    const rows = await Promise.all(tables.map(({ name }) => served.db.query(`select t::text as row from accounts.${name} t`)));
    const everything = JSON.stringify(rows);
    expect(everything).toContain(secret.slice(-4));
    for (const trace of [Buffer.from(secret), keyDigest(secret), Buffer.from(secret.slice(9, 39))]) {
      for (const encoding of ["latin1", "hex", "base64", "base64url"] as const) expect(everything).not.toContain(trace.toString(encoding));
    }
  });

  it("is for owners: a member, a stranger and another brand's owner are refused", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await addMember(brand, "member");
    for (const created_by of [ANA, "stranger@example.ph", other.owner])
      await expectRefusal(createKey(brand, { created_by }), "owner_required");
    expect(await keysOf(brand)).toEqual([]);
    expect((await createKey(brand, { created_by: brand.owner.toUpperCase() })).key?.created_by).toBe(brand.owner);
  });

  it("returns the brand's other keys with this name and environment that are not revoked, newest first, to calls at once too", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await createKey(other);
    await createKey(brand, { environment: "test" });
    await createKey(brand, { name: "Reports 2" });
    await revoke((await createKey(brand)).key?.id ?? "", brand.owner);
    const first = await createKey(brand);
    expect(first.same_name).toEqual([]);
    const second = await createKey(brand, { name: " REPORTS " });
    expect(second.same_name).toEqual([first.key]);
    expect((await createKey(brand)).same_name).toEqual([second.key, first.key]);
    const made = await Promise.all(Array.from({ length: 12 }, () => createKey(other)));
    expect(made.map(({ same_name }) => same_name.length).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]);
  });

  it("needs a verified brand on Plus or above", async () => {
    await expectRefusal(createKey(await served.createBrand({ tier: "starter" })), "plan_required");
    for (const tier of ["plus", "pro", "enterprise"]) await createKey(await served.createBrand({ tier }));
    const unverified = await served.createBrand({ verified: false });
    await expectRefusal(createKey(unverified), "brand_not_verified");
    expect(await keysOf(unverified)).toEqual([]);
  });

  it("grants campaigns:prepare to live keys only", async () => {
    const brand = await served.createBrand();
    const permissions = ["campaigns:prepare"];
    expect((await createKey(brand, { permissions })).key?.permissions).toEqual(["records:read", "campaigns:prepare"]);
    await expectRefusal(createKey(brand, { permissions, environment: "test" }), "invalid_request", "permissions");
  });

  it("reports every problem in one error, also of 20,000 unknown permissions", async () => {
    const invalid = { brand_id: "", name: "x".repeat(81), environment: "prod", permissions: ["records:write"], created_by: "" };
    await expect(served.accounts.createKey(invalid)).rejects.toMatchObject({
      kind: "invalid_request",
      details: ["brand_id", "name", "environment", "permissions.0", "created_by"].map((field) => ({ field })),
    });
    const permissions = Array.from({ length: 20_000 }, () => "x");
    await expectRefusal(createKey(await served.createBrand(), { permissions }), "invalid_request");
  });
});

describe("revokeKey", () => {
  it("returns who revoked the key and when, and the same when repeated by another owner", async () => {
    const brand = await served.createBrand();
    await addMember(brand, "owner");
    const { id } = await served.createKey(brand);
    const { key } = await revoke(id, "Ana@example.ph");
    expect(key).toMatchObject({ id, revoked_at: expect.stringMatching(/^\d{4}-.*Z$/), revoked_by: ANA });
    expect(await revoke(id, brand.owner)).toEqual({ key, may_be_accepted_until: null });
    expect(await keysOf(brand)).toEqual([key]);
  });

  it("is for owners of the key's brand, which is the named one", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await addMember(brand, "member");
    const { id } = await served.createKey(brand);
    for (const by of [ANA, other.owner]) await expectRefusal(revoke(id, by), "owner_required");
    for (const by of [brand.owner, other.owner]) await expectRefusal(revoke(id, by, other.id), "not_found", "key_id");
    expect(await keysOf(brand)).toMatchObject([{ id, revoked_at: null }]);
    expect((await revoke(id, brand.owner, brand.id)).key?.revoked_by).toBe(brand.owner);
  });

  it("works after the brand fell below Plus and lost its verification", async () => {
    const brand = await served.createBrand();
    const { id } = await served.createKey(brand);
    await served.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" });
    await served.accounts.setBrandVerified({ brand_id: brand.id, verified: false });
    expect((await revoke(id, brand.owner)).key?.revoked_by).toBe(brand.owner);
  });

  it("is final, even for direct SQL", async () => {
    const brand = await served.createBrand();
    const { id } = await served.createKey(brand);
    await revoke(id, brand.owner);
    for (const change of ["revoked_at = null, revoked_by = null", "revoked_at = revoked_at + interval '1 day'"])
      await expect(served.db.query(`update accounts.keys set ${change} where id = $1`, [id])).rejects.toThrow("is revoked permanently");
    expect(await keysOf(brand)).toMatchObject([{ revoked_by: brand.owner }]);
  });
});

it("finds the brand of a key by its id alone, revoked or not", async () => {
  const brand = await served.createBrand();
  await served.createKey(await served.createBrand());
  const { id } = await served.createKey(brand);
  expect(await served.operator.findBrand({ id })).toEqual({ brand_id: brand.id });
  await revoke(id, brand.owner);
  expect(await served.operator.findBrand({ id })).toEqual({ brand_id: brand.id });
});

it("knows no key of an unknown brand or id, and says what is no id", async () => {
  await expectRefusal(createKey({ id: "brd_unknown", owner: ANA }), "not_found", "brand_id");
  await expectRefusal(revoke("key_unknown", ANA), "not_found", "key_id");
  const unknown = { kind: "not_found", message: "There is no key with this id", field: "id" };
  await expect(served.operator.findBrand({ id: "key_unknown" })).rejects.toMatchObject(unknown);
  for (const id of ["", "pln_1", "KEY_1", "key_\0", `key_${"x".repeat(41)}`]) {
    await expectRefusal(revoke(id, ANA), "invalid_request", "key_id");
    await expectRefusal(served.operator.findBrand({ id }), "invalid_request", "id");
  }
});

describe("listKeys", () => {
  /** Inserts keys of ascending age: their number is more than calls make in a test. */
  const insert = ({ id, owner }: TestBrand, name: string, count: number, isRevoked: boolean): Promise<unknown> =>
    served.db.query(
      `insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by, created_at, revoked_at, revoked_by)
       select 'key_' || substr($1, 5) || $2 || n, $1, 'live', rpad($2, 80, '.'), '{records:read}', 'brk_live_…abcd', 1, sha256(($1 || $2 || n)::bytea), $3,
              now() - make_interval(days => $5::int, secs => n), case when $4 then now() end, case when $4 then $3 end
         from generate_series(1, $6::int) n`,
      [id, name, owner, isRevoked, isRevoked ? 0 : 400, count],
    );

  it("returns only the brand's keys: those in use first, the newest of each first", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await served.createKey(other);
    const made: string[] = [];
    for (let i = 0; i < 4; i += 1) made.push((await served.createKey(brand)).id);
    const [first = "", second = "", third = "", fourth = ""] = made;
    for (const id of [second, fourth]) await revoke(id, brand.owner);
    expect((await keysOf(brand)).map(({ id }) => id)).toEqual([third, first, fourth, second]);
  });

  it("has every key in use in its first pages, behind thousands that were revoked later, and each can be revoked", async () => {
    const brand = await served.createBrand();
    await insert(brand, "old", 450, false);
    await insert(brand, "new", 4_000, true);
    const pages = [await list(brand)];
    while (pages.length < 3) pages.push(await list(brand, { page_token: pages.at(-1)?.next_page_token ?? "" }));
    const keys = pages.flatMap(({ keys }) => keys);
    expect(pages.map((page) => page.keys.length)).toEqual([200, 200, 200]);
    expect(keys.slice(0, 450).every(({ revoked_at, name }) => revoked_at === null && name.startsWith("old"))).toBe(true);
    expect(new Set(keys.map(({ id }) => id)).size).toBe(600);
    const oldest = keys[449]?.id ?? "";
    await revoke(oldest, brand.owner);
    expect((await list(brand, { ids: [oldest] })).keys).toMatchObject([{ id: oldest, revoked_by: brand.owner }]);
  });

  it("loses and repeats no key on the way to its end", async () => {
    const brand = await served.createBrand();
    await insert(brand, "a", 7, false);
    await insert(brand, "b", 8, true);
    const found: string[] = [];
    let page_token: string | null | undefined;
    do {
      const page = await list(brand, { page_size: 5, ...(page_token && { page_token }) });
      found.push(...page.keys.map(({ id }) => id));
      page_token = page.next_page_token;
    } while (page_token != null);
    expect(found).toHaveLength(15);
    expect(found).toEqual((await keysOf(brand)).map(({ id }) => id));
  });

  it("returns those of some ids, of the brand only", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    const [ours, theirs] = [(await served.createKey(brand)).id, (await served.createKey(other)).id];
    await served.createKey(brand);
    expect((await list(brand, { ids: [theirs, ours, "key_unknown"] })).keys.map(({ id }) => id)).toEqual([ours]);
  });

  it("refuses a page of another list, pages and ids beyond 200", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await insert(brand, "a", 2, false);
    const token = (await list(brand, { page_size: 1 })).next_page_token ?? "";
    expect((await list(brand, { page_token: token })).keys).toHaveLength(1);
    for (const page_token of [token.slice(1), "", "x"]) await expectRefusal(list(brand, { page_token }), "invalid_cursor", "page_token");
    await expectRefusal(list(other, { page_token: token }), "invalid_cursor");
    await expectRefusal(list(brand, { page_size: 201 }), "invalid_request", "page_size");
    await expectRefusal(list(brand, { ids: Array.from({ length: 201 }, (_, n) => `key_${n}`) }), "invalid_request", "ids");
  });
});

describe("a brand's keys that are not revoked", () => {
  it("are as many as a setting allows, of calls at once too, and revoking one makes room for one", async () => {
    const brand = await served.createBrand();
    const limited = await served.alsoWith({ limits: { keys: 3, members: 1 } });
    const create = () => limited.createKey(brand).then(({ id }) => id);
    const { done, refused } = await settled(Array.from({ length: 12 }, create));
    expect([done.length, refused]).toEqual([3, Array(9).fill("key_limit")]);
    await revoke(done[0] ?? "", brand.owner);
    await create();
    await expect(create()).rejects.toThrow("at most 3 keys");
    await limited.createKey(await served.createBrand());
  });
});

/** Makes two keys of a brand, which the table and its index by brand have in descending order of id. @returns the ids, ascending */
async function twoKeys(brand: TestBrand): Promise<readonly [string, string]> {
  const [first = "", second = ""] = [newId("key"), newId("key")].toSorted();
  for (const id of [second, first]) {
    const { id: made } = await served.createKey(brand);
    const older = id === first ? "1 hour" : "0";
    await served.db.query("update accounts.keys set id = $2, created_at = created_at - $3::interval where id = $1", [made, id, older]);
  }
  return [first, second];
}

it.each([
  ["a brand's deletion", (sql: Sql, { id }: TestBrand) => deleteKeysOf(sql, id)],
  ["an erasure", (sql: Sql, { owner }: TestBrand) => eraseFromKeys(sql, owner, "erased_1")],
  ["the time of last uses", (sql: Sql, _: TestBrand, ids: readonly string[]) => writeLastUses(sql, new Map(ids.map((id) => [id, 1])))],
])("%s locks keys in ascending order of id, as all do, so that no two wait for each other", async (_, change) => {
  const brand = await served.createBrand();
  const ids = await twoKeys(brand);
  const lock = "select from accounts.keys where id = $1 for update";
  const { refused } = await callBehind(
    served.db,
    (sql) => sql.query(lock, [ids[0]]),
    () => change(served.db, brand, ids.toReversed()),
    (sql) => sql.query(lock, [ids[1]]),
  );
  expect(refused).toEqual([]);
});
