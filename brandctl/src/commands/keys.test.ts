import { PassThrough } from "node:stream";
import type { Key } from "@brand-records/proto/accounts/v1";
import { widthOf } from "@brand-records/command-line";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, CTRL_C, CTRL_D, pressing, typing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

const DAY_MS = 86_400_000;

describe("brandctl keys", () => {
  let accounts: FakeAccounts;
  let served: Served;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
    brandctl(line.split(" "), { env: { ACCOUNTS_ADDRESS: served.address, BRAND: "brd_1" }, ...surroundings });
  const terminal = (reply: string): Surroundings => ({ ...typing(reply), env: { ACCOUNTS_ADDRESS: served.address, NO_COLOR: "1" } });
  const before = (ms: number): string => new Date(Date.now() - ms).toISOString();

  beforeAll(async () => {
    accounts = new FakeAccounts();
    served = await serve(...accounts.served);
  });
  afterAll(() => served.stop());
  beforeEach(() => {
    accounts.keys.splice(0);
    accounts.members.splice(0);
    accounts.add();
    accounts.members.push({ brand_id: "brd_1", email: "zoe@ulap.example", role: "owner", created_at: "2026-11-21T08:30:00.000Z" });
  });

  /** Adds an active key. */
  function add(key: Partial<Key> = {}): void {
    accounts.keys.push({
      id: "key_1",
      brand_id: "brd_1",
      environment: "live",
      name: "Reporting",
      permissions: ["records:read"],
      hint: "brk_live_…vKie",
      created_by: "zoe@ulap.example",
      created_at: "2026-11-21T08:32:00.000Z",
      ...key,
    });
  }

  describe("create", () => {
    const CREATE = "keys create --name Reporting";

    it("names the other active key with the same name, and leaves standard output to the key", async () => {
      add({ last_used_at: before(3 * 60_000) });
      const { code, stdout, stderr } = await run(CREATE);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^brk_live_\w+\n$/) });
      expect(stderr).toContain("Another active key has this name:\n  key_1");
      expect(stderr).toContain(" UTC)\nThe time a key was last used may lag by a minute.\n");
      expect(stderr).toMatch(
        /key_1 {2}brk_live_…vKie {2}created 2026-11-21 08:32 UTC, used 3 minutes ago \(\d{4}-\d\d-\d\d [\d:]{8} UTC\)\n/,
      );
      expect(stderr).toContain("brandctl keys revoke key_1");
    });

    it("names each of several, with other capitals too, and says that a use may not show yet", async () => {
      add({ name: "reporting" });
      add({ id: "key_2", hint: "brk_live_…zral" });
      const { stderr } = await run(CREATE);
      expect(stderr).toContain("2 other active keys have this name:\n  key_1  brk_live_…vKie");
      expect(stderr).toContain(
        "  key_2  brk_live_…zral  created 2026-11-21 08:32 UTC, never used\nThe time a key was last used may lag by a minute.\n",
      );
    });

    it("says nothing of revoked keys and other names", async () => {
      add({ revoked_at: "2026-11-21T08:33:00.000Z", revoked_by: "zoe@ulap.example" });
      add({ id: "key_2", name: "Planner" });
      expect((await run(CREATE)).stderr).not.toContain("this name");
    });

    it("prints one JSON document with --json, and nothing else", async () => {
      add();
      const outcome = await run(`${CREATE} --json`);
      expect(Object.keys(outcome.json<object>())).toEqual(["key", "secret"]);
      expect(outcome.stderr).toBe("");
    });
  });

  describe("list", () => {
    it("has the keys of all pages", async () => {
      for (let n = 1; n <= 5; n += 1) add({ id: `key_${n}` });
      expect((await run("keys list --json")).json<{ keys: Key[] }>().keys.map(({ id }) => id)).toEqual([
        "key_1",
        "key_2",
        "key_3",
        "key_4",
        "key_5",
      ]);
      expect(await run("keys show key_5")).toMatchObject({ code: 0 });
    });

    it("shows keys in columns, and that the last use may lag", async () => {
      add({ permissions: ["records:read", "campaigns:prepare"], last_used_at: "2026-11-21T08:40:05.999Z" });
      add({ id: "key_2", name: "Old", revoked_at: "2026-11-21T08:33:00.000Z", revoked_by: "zoe@ulap.example" });
      const { stdout, stderr } = await run("keys list");
      expect(stdout.split("\n")).toEqual([
        "ID     KEY             MAY            LAST USED (UTC)      CREATED     STATE    NAME",
        "key_1  brk_live_…vKie  read, prepare  2026-11-21 08:40:05  2026-11-21  active   Reporting",
        "key_2  brk_live_…vKie  read           -                    2026-11-21  revoked  Old",
        "",
      ]);
      expect(stderr).toBe("The time a key was last used may lag by a minute.\n");
    });

    it.each(["x".repeat(80), "名".repeat(80), "دفتر ".repeat(16).trim(), "👩‍👩‍👧‍👦".repeat(11)])(
      "fits into 120 columns with the name %s, which show and --json have in full",
      async (name) => {
        const id = `key_${"0".repeat(26)}`;
        add({ id, name, permissions: ["records:read", "campaigns:prepare"], last_used_at: before(0), revoked_at: before(0) });
        const { stdout } = await run("keys list");
        expect(stdout).toContain("…");
        expect(stdout.split("\n").filter((line) => widthOf(line) > 120)).toEqual([]);
        expect((await run(`keys show ${id}`)).stdout).toContain(name);
        expect((await run("keys list --json")).json()).toMatchObject({ keys: [{ name }] });
      },
    );
  });

  it("show shows one key, and gives a hint if there is none", async () => {
    add({ permissions: ["records:read", "campaigns:prepare"], last_used_at: "2026-11-21T08:40:05.999Z" });
    const { stdout } = await run("keys show key_1");
    expect(stdout).toContain("Permissions      records:read, campaigns:prepare\n");
    expect(stdout).toContain("Last used (UTC)  2026-11-21 08:40:05 (may lag by a minute)\n");
    add({ id: "key_2" });
    expect((await run("keys show key_2")).stdout).toContain("Last used (UTC)  - (may lag by a minute)\n");
    expect(await run("keys show key_none")).toMatchObject({ code: 1, stderr: expect.stringContaining("brandctl keys list") });
  });

  describe("revoke", () => {
    const isRevoked = (): boolean => accounts.keys[0]?.revoked_at != null;

    it("asks on a terminal, and revokes at y", async () => {
      add();
      const { code, stdout, stderr } = await run("keys revoke key_1", terminal("y"));
      expect(stderr).toContain('Permanently revoke key_1, "Reporting" (brk_live_…vKie), never used? [y/N]');
      expect(stderr).toContain("The time a key was last used may lag by a minute.\n");
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("State            revoked\n") });
      expect(isRevoked()).toBe(true);
    });

    it.each(["", "n", "yep"])("revokes nothing at %j", async (reply) => {
      add();
      expect(await run("keys revoke key_1", terminal(reply))).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("Nothing was revoked."),
      });
      expect(isRevoked()).toBe(false);
    });

    it.each([
      [CTRL_C, 130],
      [`y${CTRL_C}`, 130],
      [CTRL_D, 1],
    ])("revokes nothing at the key %j", async (keys, code) => {
      add();
      const outcome = await run("keys revoke key_1", { ...terminal(""), ...pressing(keys) });
      expect(outcome).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(/\[y\/N\] (.*)\nerror: Nothing was revoked\.\n$/) });
      expect(isRevoked()).toBe(false);
    });

    it("revokes nothing at the end of the input, nor at a signal", async () => {
      add();
      const ended = Object.assign(new PassThrough(), { isTTY: true }).end();
      expect(await run("keys revoke key_1", { ...terminal(""), stdin: ended })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("Nothing was revoked."),
      });
      const interrupting = new AbortController();
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      // When the question reads it.
      stdin.once("resume", () => interrupting.abort());
      expect(await run("keys revoke key_1", { ...terminal(""), stdin, interrupted: interrupting.signal })).toMatchObject({
        code: 130,
        stderr: expect.stringContaining("error: Nothing was revoked.\n"),
      });
      expect(isRevoked()).toBe(false);
    });

    it.each(["-y", "--yes", "--json"])("does not ask with %s", async (option) => {
      add();
      const { code, stderr } = await run(`keys revoke key_1 ${option}`, terminal(""));
      expect(code).toBe(0);
      expect(stderr).not.toContain("[y/N]");
      expect(isRevoked()).toBe(true);
    });

    it("does not ask where there is no terminal, so scripts keep working", async () => {
      add({ last_used_at: before(60_000) });
      const { code, stderr } = await run("keys revoke key_1");
      expect(code).toBe(0);
      expect(stderr).toContain("This key was used 1 minute ago");
      expect(isRevoked()).toBe(true);
    });

    it.each([
      [0, "less than a minute ago"],
      [-60_000, "less than a minute ago"],
      [3 * 60_000, "3 minutes ago"],
      [7 * DAY_MS - 60_000, "6 days ago"],
    ])("warns of a use %i ms ago, and that the time may lag", async (ms, text) => {
      add({ last_used_at: before(ms) });
      const { stderr } = await run("keys revoke key_1", terminal("n"));
      expect(stderr).toContain(`This key was used ${text} (`);
      expect(stderr).toContain("The time a key was last used may lag by a minute.");
      expect(stderr).toContain('"Reporting" (brk_live_…vKie)? [y/N]');
    });

    it("does not warn of a use more than seven days ago, and still says when it was", async () => {
      add({ last_used_at: before(7 * DAY_MS + 60_000) });
      const { stderr } = await run("keys revoke key_1", terminal("n"));
      expect(stderr).not.toContain("This key was used");
      expect(stderr).toContain("(brk_live_…vKie), used 7 days ago (");
    });

    it("of a revoked key asks nothing, and says that nothing changed", async () => {
      add({ revoked_at: "2026-11-21T08:33:00.000Z", revoked_by: "zoe@ulap.example" });
      expect(await run("keys revoke key_1", terminal("n"))).toMatchObject({
        code: 0,
        stderr: "The key was revoked already: nothing changed.\n",
      });
    });
  });
});
