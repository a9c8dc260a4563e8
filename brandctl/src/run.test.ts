import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allCommands } from "../test/all-commands.ts";
import { FakeAccounts } from "../test/fake-accounts.ts";
import { serve, type Served } from "../test/serve.ts";
import { brandctl, type Outcome, type Surroundings } from "../test/test-terminal.ts";

describe("brandctl", () => {
  let accounts: FakeAccounts;
  let served: Served;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
    brandctl(line.split(" "), { env: { ACCOUNTS_ADDRESS: served.address }, ...surroundings });

  beforeAll(async () => {
    accounts = new FakeAccounts();
    served = await serve(...accounts.served);
  });
  afterAll(() => served.stop());
  beforeEach(() => {
    accounts.brands.clear();
    accounts.members.splice(0);
    accounts.keys.splice(0);
    accounts.add();
    accounts.members.push({ brand_id: "brd_1", email: "zoe@ulap.example", role: "owner", created_at: "2026-11-21T08:30:00.000Z" });
    accounts.members.push({ brand_id: "brd_1", email: "ana@ulap.example", role: "member", created_at: "2026-11-21T08:30:00.000Z" });
  });

  describe("brands", () => {
    it("are created", async () => {
      const created = await run("brands create --name Kape --tier pro --verified --id brd_kape --json");
      expect(created.code).toBe(0);
      expect(created.json()).toEqual({
        brand: {
          id: "brd_kape",
          name: "Kape",
          tier: "pro",
          verified: true,
          epoch: 1,
          created_at: "2026-11-21T08:30:00.000Z",
          deletion_started_at: null,
        },
      });
      expect(created.stderr).toBe("");
      expect(accounts.brands.has("brd_kape")).toBe(true);
    });

    it("are left unchanged if the id exists already, and a note says so", async () => {
      const { code, stderr } = await run("brands create --name Ulap --tier enterprise --id brd_1");
      expect(code).toBe(0);
      expect(stderr).toContain("The brand exists already");
    });

    it("are listed over all pages", async () => {
      for (const id of ["brd_2", "brd_3", "brd_4"]) await run(`brands create --name B --tier plus --id ${id}`);
      const { stdout } = await run("brands list");
      expect(stdout.split("\n")).toEqual([
        "ID     NAME  TIER  VERIFIED  CREATED (UTC)",
        "brd_1  Ulap  plus  yes       2026-11-21 08:30",
        "brd_2  B     plus  no        2026-11-21 08:30",
        "brd_3  B     plus  no        2026-11-21 08:30",
        "brd_4  B     plus  no        2026-11-21 08:30",
        "",
      ]);
      expect((await run("brands list --json")).json<{ brands: object[] }>().brands).toHaveLength(4);
    });

    it("change tier and verification", async () => {
      expect((await run("brands set-tier brd_1 enterprise --json")).json()).toMatchObject({ brand: { tier: "enterprise" } });
      expect((await run("brands verify brd_1 --off --json")).json()).toMatchObject({ brand: { verified: false } });
      expect((await run("brands verify brd_1 --json")).json()).toMatchObject({ brand: { verified: true } });
    });
  });

  describe("members", () => {
    it("are added, listed and removed", async () => {
      expect((await run("members add ben@ulap.example --brand brd_1 --json")).json()).toMatchObject({ member: { role: "member" } });
      expect((await run("members list --brand brd_1 --json")).json<{ members: object[] }>().members).toHaveLength(3);
      expect((await run("members remove ben@ulap.example --brand brd_1")).stdout).toBe("ben@ulap.example is no longer a member of brd_1\n");
      expect(accounts.members).toHaveLength(2);
      expect((await run("members add --brand brd_1 --json -- -x@y.example")).json()).toMatchObject({ member: { email: "-x@y.example" } });
    });
  });

  describe("keys", () => {
    it("are created for the brand's first owner, and standard output contains only the key", async () => {
      const { code, stdout, stderr } = await run("keys create --brand brd_1 --name Reporting");
      expect(code).toBe(0);
      expect(stdout).toBe(`brk_live_${"x".repeat(32)}abcd\n`);
      expect(stderr).toContain("The key is shown once.");
      expect(stderr).not.toContain("xxxx");
      expect(accounts.keys[0]).toMatchObject({ created_by: "zoe@ulap.example", permissions: ["records:read"], environment: "live" });
    });

    it("are created with the given environment, permissions and owner", async () => {
      const line = "keys create --brand brd_1 --name P --environment test --permission campaigns:prepare --by eva@ulap.example --json";
      expect((await run(line)).json()).toMatchObject({
        key: { permissions: ["records:read", "campaigns:prepare"], created_by: "eva@ulap.example", environment: "test" },
        secret: expect.stringMatching(/^brk_test_/),
      });
    });

    it("are revoked by id alone, whichever brand they belong to", async () => {
      await run("brands create --name B --tier plus --id brd_0");
      await run("brands create --name B --tier plus --id brd_9");
      await run("keys create --brand brd_1 --name Reporting");
      const { code, stdout } = await run("keys revoke key_made0");
      expect(code).toBe(0);
      expect(stdout).toContain("2026-11-21 08:33:00 by zoe@ulap.example");
      expect(accounts.keys[0]).toMatchObject({ revoked_by: "zoe@ulap.example" });
      expect((await run("keys list --brand brd_1 --json")).json()).toMatchObject({ keys: [{ revoked_at: "2026-11-21T08:33:00.000Z" }] });
    });

    it("are revoked only by a known id, never by the key itself", async () => {
      expect(await run("keys revoke key_none")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("There is no key with this id"),
      });
      expect(await run("keys revoke brk_live_abc")).toMatchObject({ code: 2, stderr: expect.stringContaining("the key itself") });
    });

    it("cannot be created for a brand without an owner", async () => {
      await run("brands create --name B --tier plus --verified --id brd_9");
      const { code, stderr } = await run("keys create --brand brd_9 --name R --json");
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toEqual({
        error: {
          code: "owner_required",
          message: expect.any(String),
          hint: "brandctl members add EMAIL --brand brd_9 --role owner",
        },
      });
    });
  });

  it.each(["keys revoke key_made0", "brands set-tier brd_1 starter", "brands verify brd_1 --off"])(
    "%s succeeds at once, and says until when a gateway may not know of it",
    async (line) => {
      await run("keys create --brand brd_1 --name Reporting");
      expect(await run(line)).toMatchObject({ code: 0, stderr: expect.not.stringContaining("until") });
      accounts.acceptedUntil = "2026-11-21T08:33:31.250Z";
      expect(await run(line)).toMatchObject({ code: 0, stderr: expect.stringContaining("until 08:33:31 UTC.") });
      expect((await run(`${line} --json`)).json()).toMatchObject({ may_be_accepted_until: "2026-11-21T08:33:31.250Z" });
      accounts.acceptedUntil = undefined;
    },
  );

  describe("errors", () => {
    it("of a service are printed, as text and as JSON", async () => {
      expect(await run("brands set-tier brd_none pro")).toEqual(
        expect.objectContaining({
          code: 1,
          stdout: "",
          stderr: "error: There is no brand with this id\nbrandctl brands list shows the brands\n",
        }),
      );
      const { stderr } = await run("brands set-tier brd_none pro --json");
      const hint = "brandctl brands list shows the brands";
      expect(JSON.parse(stderr)).toEqual({
        error: { code: "not_found", message: "There is no brand with this id", field: "brand_id", hint },
      });
    });

    it.each([
      ["brands create --name X", "required option '--tier <tier>' not specified", "See brandctl brands create --help"],
      ["brands create --name X --tier gold", "Allowed choices are starter, plus, pro, enterprise", "See brandctl brands create --help"],
      ["brands set-tier brd_1", "missing required argument 'tier'", "See brandctl brands set-tier --help"],
      ["brands frobnicate", "unknown command 'frobnicate'", "See brandctl brands --help"],
      ["brands lst", "Did you mean list?", "See brandctl brands --help"],
      ["members list too many", "too many arguments", "See brandctl members list --help"],
      [
        "members add -x@y.example --brand brd_1",
        "unknown option '-x@y.example'",
        "An address that begins with - comes last, after --: brandctl members add … -- -x@y.example",
      ],
      ["doctor --frobnicate", "unknown option '--frobnicate'", "See brandctl doctor --help"],
    ])("in usage exit with 2: %s", async (line, message, hint) => {
      const { code, stdout, stderr } = await run(line);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(message);
      expect(stderr).toContain(hint);
      const asJson = await run(`${line} --json`);
      expect(asJson.code).toBe(2);
      expect(JSON.parse(asJson.stderr)).toEqual({ error: { code: "usage", message: expect.stringContaining(message), hint } });
    });

    it("name the address that cannot be reached and its source, with a hint", async () => {
      const closed = await serve();
      await closed.stop();
      const { code, stderr } = await run(`brands list --accounts-address ${closed.address}`);
      expect(code).toBe(1);
      expect(stderr).toContain(`accounts cannot be reached at ${closed.address} (--accounts-address): nothing listens there.`);
      expect(stderr).toContain("Is accounts running? See brandctl doctor.");
    });

    it("give a hint if the address of a service is unknown", async () => {
      const { code, stderr } = await run("brands list --json", { env: {} });
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toEqual({
        error: {
          code: "unknown_address",
          message: expect.stringContaining("no ACCOUNTS_ADDRESS"),
          hint: expect.stringContaining("npm start"),
        },
      });
    });

    it("name a TLS file that does not exist, and report missing TLS settings", async () => {
      const missingFile = await run("brands list --tls-cert /no/cert --tls-key /no/key --tls-ca /no/ca");
      expect(missingFile).toMatchObject({ code: 1, stderr: expect.stringContaining("The TLS file /no/cert cannot be read.") });
      const missingSettings = await run("brands list", { env: { ACCOUNTS_ADDRESS: served.address, RPC_TLS_CERT: "/dev/null" } });
      expect(missingSettings).toMatchObject({ code: 1, stderr: expect.stringContaining("set all three or none") });
    });

    it("after Ctrl-C say that the change may or may not have been made", async () => {
      const { code, stderr } = await run("brands list", { interrupted: AbortSignal.abort() });
      expect(code).toBe(130);
      expect(stderr).toContain("Interrupted before the service responded");
    });
  });

  describe("addresses", () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "brandctl-"));
      await mkdir(join(folder, ".local"));
      await mkdir(join(folder, "deep/er"), { recursive: true });
    });
    afterEach(() => rm(folder, { recursive: true }));
    const writeRunFile = (content: string): Promise<void> => writeFile(join(folder, ".local/run.json"), content);

    it("are found in .local/run.json from here upwards", async () => {
      await writeRunFile(JSON.stringify({ rpc: { accounts: served.address } }));
      expect(await run("brands list --json", { env: {}, cwd: join(folder, "deep/er") })).toMatchObject({ code: 0 });
    });

    it("are found in LOCAL_DIR, and nowhere else if it is set", async () => {
      await writeRunFile(JSON.stringify({ rpc: { accounts: served.address } }));
      expect(await run("brands list", { env: { LOCAL_DIR: join(folder, ".local") } })).toMatchObject({ code: 0 });
      expect(await run("brands list", { env: { LOCAL_DIR: join(folder, "deep") }, cwd: folder })).toMatchObject({ code: 1 });
    });

    it("come from the flag, else from the setting, else from the run file", async () => {
      await writeRunFile(JSON.stringify({ rpc: { accounts: "file.localhost:1" } }));
      const cwd = folder;
      const list = (env: NodeJS.ProcessEnv, flag = ""): Promise<Outcome> => run(`brands list${flag}`, { cwd, env });
      expect((await list({})).stderr).toContain("file.localhost:1");
      expect((await list({ ACCOUNTS_ADDRESS: "" })).stderr).toContain("file.localhost:1");
      // Some resolvers know every name under localhost.
      expect((await list({ ACCOUNTS_ADDRESS: "setting.localhost:1" })).stderr).toMatch(
        /setting\.localhost:1 \(ACCOUNTS_ADDRESS\): (no such host|connection refused)/,
      );
      expect((await list({ ACCOUNTS_ADDRESS: "setting.localhost:1" }, ` --accounts-address ${served.address}`)).code).toBe(0);
    });

    it("on other hosts are refused without certificates", async () => {
      const { code, stderr } = await run("brands list", { env: { ACCOUNTS_ADDRESS: "accounts.example:7000" }, cwd: folder });
      expect([code, stderr]).toEqual([1, expect.stringContaining("accounts.example is reachable from other hosts and needs RPC_TLS_CERT")]);
    });

    it("are reported as missing, with the path of a run file that lacks the service", async () => {
      await writeRunFile(JSON.stringify({ rpc: { accounts: served.address } }));
      const { code, stderr } = await run("plans list --brand brd_1", { env: {}, cwd: folder });
      expect(code).toBe(1);
      expect(stderr).toContain(`no --plans-address, no PLANS_ADDRESS, nothing in ${join(folder, ".local/run.json")}.`);
      expect(stderr).toContain("Run npm start");
    });

    it("are not taken from a run file whose launcher was killed", async () => {
      const killed = spawn(process.execPath, ["--eval", ""]);
      const launcher = { pid: killed.pid };
      await once(killed, "exit");
      await writeRunFile(JSON.stringify({ launcher, rpc: { accounts: served.address } }));
      const { code, stderr } = await run("brands list", { env: {}, cwd: folder });
      expect(code).toBe(1);
      expect(stderr).toContain(`${join(folder, ".local/run.json")} is left from a run that was killed.`);
      expect(stderr).toContain("Run npm start");
      expect((await run("doctor", { env: {}, cwd: folder })).stdout).toContain("is left from a run that was killed");
      expect(await run(`brands list --accounts-address ${served.address}`, { env: {}, cwd: folder })).toMatchObject({ code: 0 });
    });

    it.each(["{", "[]", '"x"', "null"])("are not read from a run file whose content is %s", async (content) => {
      await writeRunFile(content);
      const { code, stderr } = await run("brands list --json", { env: {}, cwd: folder });
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: expect.stringMatching(/^(invalid_run_file|unknown_address)$/) } });
    });
  });

  describe("help", () => {
    const paths = allCommands().map(({ path }) => path);

    it.each(paths)("%s: fits into the columns that COLUMNS gives, where output is not a terminal", async (path) => {
      const lines = (await run(`${path} --help`.trim(), { env: { COLUMNS: "80" } })).stdout.split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
    });

    it("has 120 columns without COLUMNS, and on a terminal the terminal's", async () => {
      const plain = await run("receivers create --help");
      expect(Math.max(...plain.stdout.split("\n").map(({ length }) => length))).toBeGreaterThan(80);
      expect((await run("receivers create --help", { env: { COLUMNS: "wide" } })).stdout).toBe(plain.stdout);
      const onTerminal = (env: NodeJS.ProcessEnv) => run("receivers create --help", { isTerminal: true, env: { ...env, NO_COLOR: "1" } });
      expect((await onTerminal({ COLUMNS: "80" })).stdout).toBe((await onTerminal({})).stdout);
    });

    it("breaks long examples as a shell reads them", async () => {
      expect((await run("receivers create --help")).stdout).toContain(`
  brandctl receivers create --brand brd_… \\
    --url https://hooks.brand.example/events --label Ledger \\
    --events payout.paid,campaign.settled
`);
      expect((await run("brands list --help")).stdout).toContain(`
  brandctl brands list --json | jq '.brands[] | select(.verified | not)'
`);
    });
  });

  describe("output", () => {
    it("is coloured on a terminal only, and not with NO_COLOR", async () => {
      const escape = "\u001b[";
      const env = { ACCOUNTS_ADDRESS: served.address };
      expect((await run("brands list", { isTerminal: true })).stdout).toContain(escape);
      expect((await run("brands list")).stdout).not.toContain(escape);
      expect((await run("brands list", { isTerminal: true, env: { ...env, NO_COLOR: "1" } })).stdout).not.toContain(escape);
      expect((await run("brands list", { isTerminal: true, env: { ...env, TERM: "dumb" } })).stdout).not.toContain(escape);
      expect((await run("brands list --json", { isTerminal: true })).stdout).not.toContain(escape);
    });

    it("replaces control characters in names", async () => {
      accounts.add({ id: "brd_2", name: "x\u001b[2J\u202ey" });
      const { stdout } = await run("brands list");
      expect(stdout).toContain("x\ufffd[2J\ufffdy");
    });

    it("shows help on request, and when a command is missing", async () => {
      expect(await run("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Exit codes:") });
      expect(await run("brands create --help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Examples:") });
      expect(await run("brands")).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("set-tier") });
      expect(JSON.parse((await run("brands --json")).stderr)).toMatchObject({ error: { code: "usage", message: "A command is missing" } });
      expect(await run("--version")).toMatchObject({ code: 0, stdout: "unknown\n" });
    });
  });
});
