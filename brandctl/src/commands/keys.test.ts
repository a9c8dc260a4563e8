import { PassThrough } from "node:stream";
import { widthOf } from "@brand-records/command-line";
import type { Key } from "@brand-records/proto/accounts/v1";
import { context, startProduct, type TestBrand } from "../../test/product.ts";
import { failing, CTRL_C, pressing, typing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

const DAY_MS = 86_400_000;
const LAGS = "The time a key was last used may lag by a minute.\n";
const product = startProduct();
let brand: TestBrand;
beforeEach(async () => {
  brand = await product.createBrand();
});

const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
  product.run(line, { ...surroundings, env: { ...product.env, BRAND: brand.id, NO_COLOR: "1" } });

/** Makes a key of the test's brand, in use as long ago as given. */
async function makeKey(
  name = "Reporting",
  { usedMsAgo, isRevoked = false }: { usedMsAgo?: number; isRevoked?: boolean } = {},
): Promise<Key> {
  const request = { brand_id: brand.id, name, environment: "live", permissions: [], created_by: brand.owner };
  const { key } = await product.accounts.createKey(request, context());
  const made = key as Key;
  if (usedMsAgo !== undefined) {
    const at = new Date(Date.now() - usedMsAgo).toISOString();
    await product.db.query("update accounts.keys set last_used_at = $2 where id = $1", [made.id, at]);
  }
  if (isRevoked) await product.accounts.revokeKey({ key_id: made.id, brand_id: brand.id, revoked_by: brand.owner }, context());
  return made;
}

const created = ({ created_at }: Key): string => created_at.slice(0, 16).replace("T", " ");

describe("create", () => {
  const CREATE = "keys create --name Reporting";

  it("makes a key for the brand's first owner, and leaves standard output to the key", async () => {
    await product.accounts.addMember({ brand_id: brand.id, email: `abe@${brand.id.slice(4)}.example`, role: "member" }, context());
    const { code, stdout, stderr } = await run(CREATE);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^brk_live_\w{36}\n$/) });
    expect(stderr).toContain("The key is shown once.");
    expect(stderr).toContain(`by ${brand.owner}\n`);
    expect(stderr).not.toContain(stdout.trim());
    expect(stderr).not.toContain("this name");
  });

  it("passes environment, permissions and owner on, and prints one JSON document with --json", async () => {
    const eva = `eva@${brand.id.slice(4)}.example`;
    await product.accounts.addMember({ brand_id: brand.id, email: eva, role: "owner" }, context());
    const outcome = await run(`keys create --name P --permission campaigns:prepare --by ${eva} --json`);
    expect(outcome.stderr).toBe("");
    expect(outcome.json()).toEqual({
      key: expect.objectContaining({ permissions: ["records:read", "campaigns:prepare"], created_by: eva, environment: "live" }),
      secret: expect.stringMatching(/^brk_live_/),
    });
    expect((await run("keys create --name T --environment test")).stdout).toMatch(/^brk_test_/);
  });

  it("names other active keys with the same name, other capitals included, and no revoked ones", async () => {
    await makeKey("Reporting", { isRevoked: true });
    await makeKey("Planner");
    const first = await makeKey("reporting", { usedMsAgo: 3 * 60_000 });
    const { stderr } = await run(CREATE);
    expect(stderr).toContain(
      `Another active key has this name:\n  ${first.id}  ${first.hint}  created ${created(first)} UTC, used 3 minutes ago (`,
    );
    expect(stderr).toContain(`UTC)\n${LAGS}If this one replaces it: brandctl keys revoke ${first.id}, once the new key works\n`);
    const several = (await run(CREATE)).stderr;
    expect(several).toContain("2 other active keys have this name:\n");
    expect(several).toContain(`UTC, never used\n`);
    expect(several).toContain("brandctl keys revoke KEY");
  });

  it("needs an owner", async () => {
    const made = (await product.run("brands create --name B --tier plus --verified --json")).json<{ brand: { id: string } }>();
    const { code, stderr } = await product.run(`keys create --brand ${made.brand.id} --name R --json`);
    const hint = `brandctl members add EMAIL --brand ${made.brand.id} --role owner`;
    expect({ code, ...JSON.parse(stderr) }).toEqual({ code: 1, error: { code: "owner_required", message: expect.any(String), hint } });
  });
});

describe("list and show", () => {
  it("shows keys in columns, revoked ones last, and that the last use may lag", async () => {
    const old = await makeKey("Old", { isRevoked: true });
    const key = await makeKey();
    await product.db.query(
      "update accounts.keys set last_used_at = '2026-11-21T08:40:05.999Z', permissions = '{records:read,campaigns:prepare}' where id = $1",
      [key.id],
    );
    const day = key.created_at.slice(0, 10);
    const { stdout, stderr } = await run("keys list");
    expect(stdout.split("\n")).toEqual([
      "ID                              KEY             MAY            LAST USED (UTC)      CREATED     STATE    NAME",
      `${key.id}  ${key.hint}  read, prepare  2026-11-21 08:40:05  ${day}  active   Reporting`,
      `${old.id}  ${old.hint}  read           -                    ${day}  revoked  Old`,
      "",
    ]);
    expect(stderr).toBe(LAGS);
    const shown = (await run(`keys show ${key.id}`)).stdout;
    expect(shown).toContain("Permissions      records:read, campaigns:prepare\n");
    expect(shown).toContain("Last used (UTC)  2026-11-21 08:40:05 (may lag by a minute)\n");
    expect((await run(`keys show ${old.id}`)).stdout).toContain("Last used (UTC)  - (may lag by a minute)\n");
  });

  it("reads all pages", async () => {
    const ids = [await makeKey(), await makeKey(), await makeKey()].map(({ id }) => id);
    product.intercepts.set("accounts.listKeys", (request: object, forward) => forward({ ...request, page_size: 2 }));
    const { keys } = (await run("keys list --json")).json<{ keys: Key[] }>();
    expect(keys.map(({ id }) => id)).toEqual(ids.toReversed());
  });

  it.each(["x".repeat(80), "名".repeat(80), "دفتر ".repeat(16).trim(), "👩‍👩‍👧‍👦".repeat(11)])(
    "fits into 120 columns of a terminal with the name %s, which a pipe, show and --json have in full",
    async (name) => {
      const { id } = await makeKey(name, { usedMsAgo: 0, isRevoked: true });
      await product.db.query("update accounts.keys set permissions = '{records:read,campaigns:prepare}' where id = $1", [id]);
      const lines = (await run("keys list", { isTerminal: true })).stdout.split("\n");
      expect(lines.join()).toContain("…");
      expect(lines.filter((line) => widthOf(line) > 120)).toEqual([]);
      expect((await run("keys list")).stdout).toContain(name);
      expect((await run(`keys show ${id}`)).stdout).toContain(name);
      expect((await run("keys list --json")).json()).toMatchObject({ keys: [{ name }] });
    },
  );
});

describe("revoke", () => {
  const isRevoked = async ({ id }: Key): Promise<boolean> =>
    (await run(`keys show ${id} --json`)).json<{ key: Key }>().key.revoked_at != null;

  it("asks on a terminal, and revokes at y", async () => {
    const key = await makeKey();
    const { code, stdout, stderr } = await run(`keys revoke ${key.id}`, typing("y"));
    expect(stderr).toContain(`Permanently revoke ${key.id}, "Reporting" (${key.hint}), never used? [y/N]`);
    expect(stderr).toContain(LAGS);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("State            revoked\n") });
    expect(stdout).toContain(`by ${brand.owner}\n`);
    expect(await isRevoked(key)).toBe(true);
  });

  it.each<[string, Surroundings, number]>([
    ["n", typing("n"), 1],
    ["y and Ctrl-C", pressing(`y${CTRL_C}`), 130],
    ["the end of the input", { stdin: Object.assign(new PassThrough(), { isTTY: true }).end(), isTerminal: true }, 1],
  ])("revokes nothing at %s", async (_, surroundings, code) => {
    const key = await makeKey();
    expect(await run(`keys revoke ${key.id}`, surroundings)).toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringMatching(/\[y\/N\] (.*)\n?error: Nothing was revoked\.\n$/s),
    });
    expect(await isRevoked(key)).toBe(false);
  });

  it("revokes nothing at a signal", async () => {
    const key = await makeKey();
    const interrupting = new AbortController();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    // When the question reads it.
    stdin.once("resume", () => interrupting.abort());
    expect(await run(`keys revoke ${key.id}`, { stdin, isTerminal: true, interrupted: interrupting.signal })).toMatchObject(
      failing(130, "error: Nothing was revoked.\n"),
    );
    expect(await isRevoked(key)).toBe(false);
  });

  it.each(["-y", "--yes", "--json"])("does not ask with %s", async (option) => {
    const key = await makeKey();
    const { code, stderr } = await run(`keys revoke ${key.id} ${option}`, typing(""));
    expect(code).toBe(0);
    expect(stderr).not.toContain("[y/N]");
    expect(await isRevoked(key)).toBe(true);
  });

  it("does not ask where there is no terminal, so scripts keep working, and of a revoked key says that nothing changed", async () => {
    const key = await makeKey("Reporting", { usedMsAgo: 60_000 });
    const { code, stderr } = await run(`keys revoke ${key.id}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("This key was used 1 minute ago") });
    expect(await isRevoked(key)).toBe(true);
    expect(await run(`keys revoke ${key.id}`, typing("n"))).toMatchObject({
      code: 0,
      stderr: "The key was revoked already: nothing changed.\n",
    });
  });

  it.each([
    [0, "less than a minute ago"],
    [-60_000, "less than a minute ago"],
    [3 * 60_000, "3 minutes ago"],
    [7 * DAY_MS - 60_000, "6 days ago"],
  ])("warns of a use %i ms ago, and that the time may lag", async (usedMsAgo, text) => {
    const key = await makeKey("Reporting", { usedMsAgo });
    const { stderr } = await run(`keys revoke ${key.id}`, typing("n"));
    expect(stderr).toContain(`This key was used ${text} (`);
    expect(stderr).toContain(LAGS);
    expect(stderr).toContain(`"Reporting" (${key.hint})? [y/N]`);
  });

  it("does not warn of a use more than seven days ago, and still says when it was", async () => {
    const key = await makeKey("Reporting", { usedMsAgo: 7 * DAY_MS + 60_000 });
    const { stderr } = await run(`keys revoke ${key.id}`, typing("n"));
    expect(stderr).not.toContain("This key was used");
    expect(stderr).toContain(`(${key.hint}), used 7 days ago (`);
  });

  it("takes a known id only, never the key itself", async () => {
    expect(await run("keys revoke key_none")).toMatchObject(failing(1, "There is no key with this id"));
    expect(await run("keys show key_none")).toMatchObject(failing(1, "brandctl keys list"));
    expect(await run("keys revoke brk_live_abc")).toMatchObject(failing(2, "the key itself"));
  });
});
