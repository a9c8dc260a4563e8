import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { AddressInfo } from "node:net";
import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";
import { CleanCopy, type RunningCommand } from "./clean-copy.ts";
import { findCommands, findPages } from "./find-commands.ts";
import { NOT_RUN } from "./not-run.ts";

/** One promise: every command that the README and docs/ name does what it is there for, in a folder as it is after `npm ci`. */

/** Without parameters it is a way to speak of a command; commands.test.ts looks whether there is one. */
const ONLY_NAMED = /^brandctl(?: [a-z-]+)+$/;
const commands = [
  ...new Set(
    findPages()
      .flatMap(findCommands)
      .map(({ command }) => command),
  ),
].filter((command) => !(command in NOT_RUN) && !ONLY_NAMED.test(command));
const isAlone = (command: string): boolean => command.startsWith("npm run ");

const INSTALL_MS_MAX = 900_000;
const COMMAND_MS_MAX = 300_000;

let copy: CleanCopy;
let files: string;

beforeAll(async () => {
  copy = await CleanCopy.make();
  files = await mkdtemp(join(tmpdir(), "command-files-"));
  await copy.run("npm ci");
}, INSTALL_MS_MAX);
afterAll(async () => {
  await copy.remove();
  await rm(files, { recursive: true });
}, COMMAND_MS_MAX);

describe("with nothing running", () => {
  const alone = commands.filter(isAlone);
  const benchmarks = alone.filter((command) => command.startsWith("npm run bench:"));
  const others = alone.filter((command) => !benchmarks.includes(command));

  it.each(others)(
    "%s works before anything is built",
    async (command) => {
      await copy.unbuild();
      await copy.run(command);
    },
    COMMAND_MS_MAX,
  );

  it.each(benchmarks)(
    "%s works, and says that a tiny one measures nothing",
    async (command) => {
      const filled = command.replace("FILE", join(files, "result.json")).replace("DIR", join(files, "profiles"));
      expect(await copy.run(filled, { BENCH_SIZE: "tiny" })).toContain("NO MEASUREMENT: BENCH_SIZE=tiny");
    },
    COMMAND_MS_MAX,
  );
});

describe("beside npm start", () => {
  let launcher: RunningCommand;
  let platform: Database;
  let server: Server;
  let brand: string;
  let receiver: string;
  let delivery: string;

  beforeAll(async () => {
    const port = await freePort();
    copy.env["PORT"] = String(port);
    // The documented walks read a brand to its end, one after another.
    copy.env["RATE_LIMIT_ENTERPRISE"] = "100000";
    launcher = copy.start("npm start");
    await eventually(() => expect(launcher.output()).toContain("is running at"), { timeoutMs: COMMAND_MS_MAX });
    const run = JSON.parse(await copy.run("cat .local/run.json")) as {
      base_url: string;
      platform_database_url: string;
      brands: { id: string; keys: { reporting: string; planner: string } }[];
    };
    const [first] = run.brands;
    brand = first?.id ?? "";
    Object.assign(copy.env, { BASE_URL: run.base_url, KEY: first?.keys.reporting, PLANNER_KEY: first?.keys.planner });
    platform = openPool({ url: run.platform_database_url, applicationName: "commands" });
    server = createServer((request, response) => request.resume().on("end", () => response.writeHead(204).end()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const created = await copy.run(
      `npx brandctl receivers create --brand ${brand} --url ${url} --label Docs --events submission.approved,payout.paid --json`,
    );
    receiver = (JSON.parse(created) as { id: string }).id;
    await copy.run(`npx brandctl records set-status submission ${await pending("submissions")} approved`);
    delivery = await eventually(async () => {
      const { deliveries } = JSON.parse(await copy.run(`npx brandctl deliveries list --brand ${brand} --receiver ${receiver} --json`)) as {
        deliveries: { id: string; state: string }[];
      };
      expect(deliveries[0]?.state).toBe("delivered");
      return deliveries[0]?.id ?? "";
    });
  }, COMMAND_MS_MAX);
  afterAll(async () => {
    await platform.stop();
    server.closeAllConnections();
    server.close();
    await launcher.interrupt();
    expect(launcher.output()).toContain("Stopped.");
  }, COMMAND_MS_MAX);

  /** A record that still waits. */
  async function pending(resource: "submissions" | "payouts"): Promise<string> {
    const status = resource === "payouts" ? "processing" : "pending";
    const [row] = await platform.query<{ id: string }>(`select id from records.${resource} where brand_id = $1 and status = $2 limit 1`, [
      brand,
      status,
    ]);
    return row?.id ?? "none";
  }

  /** The command with real identifiers and the real address. */
  async function filled(command: string): Promise<string> {
    const text = command
      .replaceAll("brd_…", brand)
      .replaceAll("rcv_…", receiver)
      .replaceAll("dlv_…", delivery)
      .replaceAll("127.0.0.1:8080", new URL(copy.env["BASE_URL"] ?? "").host)
      .replace(/^brandctl /, "npx brandctl ");
    if (text.includes("sub_…")) return text.replace("sub_…", await pending("submissions"));
    return text.includes("po_…") ? text.replace("po_…", await pending("payouts")) : text;
  }

  it.each(commands.filter((command) => !isAlone(command)))(
    "%s works",
    async (command) => {
      const real = await filled(command);
      expect(real).not.toContain("…");
      if (!/\blisten\b/.test(real)) return void (await copy.run(real));
      const listening = copy.start(`${real} --port 0`);
      await eventually(() => expect(listening.output()).toContain("Registered as rcv_"));
      await listening.interrupt();
      expect(listening.output()).toMatch(/rcv_\w+ is deleted/);
    },
    COMMAND_MS_MAX,
  );
});
