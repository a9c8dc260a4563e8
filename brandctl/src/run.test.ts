import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newId } from "@brand-records/ids";
import { allCommands } from "../test/all-commands.ts";
import { startProduct } from "../test/product.ts";
import { serve } from "../test/serve.ts";
import { failing, type Outcome } from "../test/test-terminal.ts";

describe("brandctl", () => {
  const product = startProduct();
  const { run } = product;

  describe("brands", () => {
    it("are created, listed over all pages, and left unchanged if the id exists already, which a note says", async () => {
      const ids = [newId("brd"), newId("brd"), newId("brd")];
      for (const id of ids) {
        const made = await run(`brands create --name Kape --tier pro --verified --id ${id} --json`);
        expect({ ...made, ...made.json<object>() }).toMatchObject({
          code: 0,
          stderr: "",
          brand: { id, name: "Kape", tier: "pro", verified: true, deletion_started_at: null },
        });
      }
      expect(await run(`brands create --name Kape --tier plus --id ${ids[0]}`)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("The brand exists already"),
      });
      product.intercepts.set("accounts.listBrands", (request: object, forward) => forward({ ...request, page_size: 2 }));
      const { brands } = (await run("brands list --json")).json<{ brands: { id: string }[] }>();
      expect(brands.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      await product.db.query("update accounts.brands set created_at = '2026-11-21T08:30:00Z' where id = any($1::text[])", [ids]);
      const lines = (await run("brands list")).stdout.split("\n");
      expect(lines[0]).toBe("ID                              NAME  TIER  VERIFIED  CREATED (UTC)");
      expect(lines).toEqual(expect.arrayContaining(ids.map((id) => `${id}  Kape  pro   yes       2026-11-21 08:30`)));
    });

    it("change tier and verification", async () => {
      const { id } = await product.createBrand();
      expect((await run(`brands set-tier ${id} enterprise --json`)).json()).toMatchObject({ brand: { tier: "enterprise" } });
      expect((await run(`brands verify ${id} --off --json`)).json()).toMatchObject({ brand: { verified: false } });
      expect((await run(`brands verify ${id} --json`)).json()).toMatchObject({ brand: { verified: true } });
    });
  });

  it.each([
    ["keys revoke KEY", "accounts.revokeKey"],
    ["brands set-tier BRAND starter", "accounts.setBrandTier"],
    ["brands verify BRAND --off", "accounts.setBrandVerified"],
  ])("%s succeeds at once, and says until when a gateway may not know of it", async (command, method) => {
    const { id } = await product.createBrand();
    const { key } = (await run(`keys create --brand ${id} --name Reporting --json`)).json<{ key: { id: string } }>();
    const line = command.replace("KEY", key.id).replace("BRAND", id);
    expect(await run(line)).toMatchObject({ code: 0, stderr: expect.not.stringContaining("until") });
    const until = { may_be_accepted_until: "2026-11-21T08:33:31.250Z" };
    product.intercepts.set(method, async (_, forward) => ({ ...((await forward()) as object), ...until }));
    expect(await run(line)).toMatchObject({ code: 0, stderr: expect.stringContaining("until 08:33:31 UTC.") });
    expect((await run(`${line} --json`)).json()).toMatchObject(until);
  });

  describe("errors", () => {
    it("of a service are printed, as text and as JSON", async () => {
      expect(await run("brands set-tier brd_none pro")).toMatchObject({
        code: 1,
        stdout: "",
        stderr: "error: There is no brand with this id\nbrandctl brands list shows the brands\n",
      });
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
      expect(missingFile).toMatchObject(failing(1, "The TLS file /no/cert cannot be read."));
      const missingSettings = await run("brands list", {
        env: { ACCOUNTS_ADDRESS: product.env.ACCOUNTS_ADDRESS, RPC_TLS_CERT: "/dev/null" },
      });
      expect(missingSettings).toMatchObject(failing(1, "set all three or none"));
    });

    it("after Ctrl-C say that the change may or may not have been made", async () => {
      expect(await run("brands list", { interrupted: AbortSignal.abort() })).toMatchObject(
        failing(130, "Interrupted before the service responded"),
      );
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
      await writeRunFile(JSON.stringify({ rpc: { accounts: product.env.ACCOUNTS_ADDRESS } }));
      expect(await run("brands list --json", { env: {}, cwd: join(folder, "deep/er") })).toMatchObject({ code: 0 });
    });

    it("are found in LOCAL_DIR, and nowhere else if it is set", async () => {
      await writeRunFile(JSON.stringify({ rpc: { accounts: product.env.ACCOUNTS_ADDRESS } }));
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
      expect((await list({ ACCOUNTS_ADDRESS: "setting.localhost:1" }, ` --accounts-address ${product.env.ACCOUNTS_ADDRESS}`)).code).toBe(0);
    });

    it("on other hosts are refused without certificates", async () => {
      expect(await run("brands list", { env: { ACCOUNTS_ADDRESS: "accounts.example:7000" }, cwd: folder })).toMatchObject(
        failing(1, "accounts.example is reachable from other hosts and needs RPC_TLS_CERT"),
      );
    });

    it("are reported as missing, with the path of a run file that lacks the service", async () => {
      await writeRunFile(JSON.stringify({ rpc: { accounts: product.env.ACCOUNTS_ADDRESS } }));
      const { code, stderr } = await run("plans list --brand brd_1", { env: {}, cwd: folder });
      expect(code).toBe(1);
      expect(stderr).toContain(`no --plans-address, no PLANS_ADDRESS, nothing in ${join(folder, ".local/run.json")}.`);
      expect(stderr).toContain("Run npm start");
    });

    it("are not taken from a run file whose launcher was killed", async () => {
      const killed = spawn(process.execPath, ["--eval", ""]);
      const launcher = { pid: killed.pid };
      await once(killed, "exit");
      await writeRunFile(JSON.stringify({ launcher, rpc: { accounts: product.env.ACCOUNTS_ADDRESS } }));
      const { code, stderr } = await run("brands list", { env: {}, cwd: folder });
      expect(code).toBe(1);
      expect(stderr).toContain(`${join(folder, ".local/run.json")} is left from a run that was killed.`);
      expect(stderr).toContain("Run npm start");
      expect((await run("doctor", { env: {}, cwd: folder })).stdout).toContain("is left from a run that was killed");
      expect(await run(`brands list --accounts-address ${product.env.ACCOUNTS_ADDRESS}`, { env: {}, cwd: folder })).toMatchObject({
        code: 0,
      });
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
      const env = { ACCOUNTS_ADDRESS: product.env.ACCOUNTS_ADDRESS };
      expect((await run("brands list", { isTerminal: true })).stdout).toContain(escape);
      expect((await run("brands list")).stdout).not.toContain(escape);
      expect((await run("brands list", { isTerminal: true, env: { ...env, NO_COLOR: "1" } })).stdout).not.toContain(escape);
      expect((await run("brands list", { isTerminal: true, env: { ...env, TERM: "dumb" } })).stdout).not.toContain(escape);
      expect((await run("brands list --json", { isTerminal: true })).stdout).not.toContain(escape);
    });

    it("replaces control characters in names", async () => {
      const { id } = await product.createBrand();
      // The service refuses such a name: this one came another way.
      await product.db.query("update accounts.brands set name = $2 where id = $1", [id, "x\u001b[2J\u202ey"]);
      expect((await run("brands list")).stdout).toContain("x\ufffd[2J\ufffdy");
    });

    it("shows help on request, and when a command is missing", async () => {
      expect(await run("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Exit codes:") });
      expect(await run("brands create --help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Examples:") });
      expect(await run("brands")).toMatchObject(failing(2, "set-tier"));
      expect(JSON.parse((await run("brands --json")).stderr)).toMatchObject({ error: { code: "usage", message: "A command is missing" } });
      expect(await run("--version")).toMatchObject({ code: 0, stdout: "unknown\n" });
    });
  });
});
