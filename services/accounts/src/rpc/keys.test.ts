import { keyDigest, keyEnvironment } from "@brand-records/api-key";
import { callContext, serveAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

let served: ServedAccounts;
beforeAll(async () => {
  served = await serveAccounts();
});
afterAll(() => served.stop());

const createKey = (brand: TestBrand, more: object = {}) =>
  served.accounts.createKey(
    { brand_id: brand.id, name: "Reports", environment: "live", permissions: [], created_by: brand.owner, ...more },
    callContext(),
  );
const revoke = (keyId: string, by: string) => served.accounts.revokeKey({ key_id: keyId, revoked_by: by }, callContext());
const keysOf = async ({ id }: TestBrand) => (await served.accounts.listKeys({ brand_id: id }, callContext())).keys;
const addMember = ({ id }: TestBrand, email: string, role: string) =>
  served.accounts.addMember({ brand_id: id, email, role }, callContext());

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
    const rows: string[] = [];
    for (const { name } of tables) {
      const texts = await served.db.query<{ row: string }>(`select t::text as row from accounts.${name} t`);
      rows.push(...texts.map(({ row }) => row));
    }
    const everything = rows.join("\n");
    expect(everything).toContain(secret.slice(-4));
    for (const trace of [Buffer.from(secret), keyDigest(secret), Buffer.from(secret.slice(9, 39))]) {
      for (const encoding of ["latin1", "hex", "base64", "base64url"] as const) expect(everything).not.toContain(trace.toString(encoding));
    }
  });

  it("is for owners: a member, a stranger and another brand's owner are refused", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await addMember(brand, "ana@example.ph", "member");
    for (const created_by of ["ana@example.ph", "stranger@example.ph", other.owner]) {
      await expect(createKey(brand, { created_by })).rejects.toMatchObject({ kind: "owner_required" });
    }
    expect(await keysOf(brand)).toEqual([]);
    await expect(createKey(brand, { created_by: brand.owner.toUpperCase() })).resolves.toMatchObject({ key: { created_by: brand.owner } });
  });

  it("returns the brand's other keys with this name and environment that are not revoked, newest first", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await createKey(other);
    await createKey(brand, { environment: "test" });
    await createKey(brand, { name: "Reports 2" });
    const revoked = await createKey(brand);
    await revoke(revoked.key?.id ?? "", brand.owner);
    const first = await createKey(brand);
    expect(first.same_name).toEqual([]);
    const second = await createKey(brand, { name: " REPORTS " });
    expect(second.same_name).toEqual([first.key]);
    expect((await createKey(brand)).same_name).toEqual([second.key, first.key]);
  });

  it("returns the others of the name also to simultaneous calls, each but the first", async () => {
    const brand = await served.createBrand();
    const made = await Promise.all(Array.from({ length: 12 }, () => createKey(brand)));
    expect(made.map(({ same_name }) => same_name.length).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
  });

  it("needs Plus or above", async () => {
    await expect(createKey(await served.createBrand({ tier: "starter" }))).rejects.toMatchObject({ kind: "plan_required" });
    for (const tier of ["plus", "pro", "enterprise"]) await createKey(await served.createBrand({ tier }));
  });

  it("needs a verified brand", async () => {
    const brand = await served.createBrand({ verified: false });
    await expect(createKey(brand)).rejects.toMatchObject({ kind: "brand_not_verified" });
    expect(await keysOf(brand)).toEqual([]);
  });

  it("grants campaigns:prepare to live keys only", async () => {
    const brand = await served.createBrand();
    const permissions = ["campaigns:prepare"];
    expect((await createKey(brand, { permissions })).key?.permissions).toEqual(["records:read", "campaigns:prepare"]);
    await expect(createKey(brand, { permissions, environment: "test" })).rejects.toMatchObject({
      kind: "invalid_request",
      field: "permissions",
    });
  });

  it("reports every problem in one error", async () => {
    const invalid = { brand_id: "", name: "x".repeat(81), environment: "prod", permissions: ["records:write"], created_by: "" };
    await expect(served.accounts.createKey(invalid, callContext())).rejects.toMatchObject({
      kind: "invalid_request",
      details: ["brand_id", "name", "environment", "permissions.0", "created_by"].map((field) => ({ field })),
    });
  });

  it("refuses 20,000 unknown permissions with invalid_request", async () => {
    const permissions = Array.from({ length: 20_000 }, () => "x");
    await expect(createKey(await served.createBrand(), { permissions })).rejects.toMatchObject({ kind: "invalid_request" });
  });

  it("returns not_found for an unknown brand", async () => {
    await expect(createKey({ id: "brd_unknown", owner: "ana@example.ph" })).rejects.toMatchObject({ kind: "not_found", field: "brand_id" });
  });
});

describe("revokeKey", () => {
  it("returns who revoked the key and when, and the same when repeated by another owner", async () => {
    const brand = await served.createBrand();
    await addMember(brand, "ana@example.ph", "owner");
    const { id } = await served.createKey(brand);
    const { key } = await revoke(id, "Ana@example.ph");
    expect(key).toMatchObject({ id, revoked_at: expect.stringMatching(/^\d{4}-.*Z$/), revoked_by: "ana@example.ph" });
    expect(await revoke(id, brand.owner)).toEqual({ key, may_be_accepted_until: null });
    expect(await keysOf(brand)).toEqual([key]);
  });

  it("is for owners of the key's brand", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    await addMember(brand, "ana@example.ph", "member");
    const { id } = await served.createKey(brand);
    for (const by of ["ana@example.ph", other.owner]) await expect(revoke(id, by)).rejects.toMatchObject({ kind: "owner_required" });
    expect(await keysOf(brand)).toMatchObject([{ id, revoked_at: null }]);
  });

  it("works after the brand fell below Plus and lost its verification", async () => {
    const brand = await served.createBrand();
    const { id } = await served.createKey(brand);
    await served.accounts.setBrandTier({ brand_id: brand.id, tier: "starter" }, callContext());
    await served.accounts.setBrandVerified({ brand_id: brand.id, verified: false }, callContext());
    expect((await revoke(id, brand.owner)).key?.revoked_by).toBe(brand.owner);
  });

  it("is final, even for direct SQL", async () => {
    const brand = await served.createBrand();
    const { id } = await served.createKey(brand);
    await revoke(id, brand.owner);
    for (const change of ["revoked_at = null, revoked_by = null", "revoked_at = revoked_at + interval '1 day'"]) {
      await expect(served.db.query(`update accounts.keys set ${change} where id = $1`, [id])).rejects.toThrow("is revoked permanently");
    }
    expect(await keysOf(brand)).toMatchObject([{ revoked_by: brand.owner }]);
  });

  it.each(["key_unknown", "", "key_\u0000"])("returns not_found or invalid_request, never internal_error, for %j", async (id) => {
    await expect(revoke(id, "ana@example.ph")).rejects.toMatchObject({
      kind: expect.stringMatching(/^(not_found|invalid_request)$/),
      field: "key_id",
    });
  });

  it("finds the key of the named brand only", async () => {
    const [brand, other] = [await served.createBrand(), await served.createBrand()];
    const { id } = await served.createKey(brand);
    const revokeOf = (brand_id: string, revoked_by: string) =>
      served.accounts.revokeKey({ key_id: id, revoked_by, brand_id }, callContext());
    await expect(revokeOf(other.id, other.owner)).rejects.toMatchObject({ kind: "not_found", field: "key_id" });
    await expect(revokeOf(other.id, brand.owner)).rejects.toMatchObject({ kind: "not_found", field: "key_id" });
    expect((await revokeOf(brand.id, brand.owner)).key?.revoked_by).toBe(brand.owner);
  });
});

it("listKeys returns only the brand's keys, newest first, including revoked ones", async () => {
  const [brand, other] = [await served.createBrand(), await served.createBrand()];
  await served.createKey(other);
  const made: string[] = [];
  for (let i = 0; i < 4; i += 1) made.push((await served.createKey(brand)).id);
  await revoke(made[1] ?? "", brand.owner);
  const keys = await keysOf(brand);
  expect(keys.map(({ id }) => id)).toEqual(made.toReversed());
});
