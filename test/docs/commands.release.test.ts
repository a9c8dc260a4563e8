import { join } from "node:path";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "@brand-records/testkit";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { deleteBuilds, makeCleanCopy } from "./clean-copy.ts";
import type { Command } from "./command.js";
import { findCommands } from "./find-commands.js";
import { NOT_RUN } from "./not-run.ts";
import { findManuals } from "./pages.ts";
import { Shell } from "./shell.js";

/** One promise: every documented command works in a folder as `npm ci` leaves it. */

/** Matches a command's bare name: commands.full.test.ts checks that it exists. */
const ONLY_NAMED = /^(?:brandctl|brand-records)(?: (?!whoami)[a-z-]+)+$/;
const commands = [...new Set(findManuals().flatMap(findCommands))].filter((command) => !(command in NOT_RUN) && !ONLY_NAMED.test(command));
const scriptOf = (command: string): string => command.split(" -- ")[0] ?? "";
/** Returns a command's options, each with its value, such as `--json FILE`. */
const optionsOf = (command: string): string[] => command.split(" -- ")[1]?.match(/--\S+(?: [^-]\S*)?/g) ?? [];
const isAlone = (command: string): boolean => command.startsWith("npm run ");

/** Address in place of EMAIL. */
const MEMBER = "reader@docs.example";
const INSTALL_SECONDS_MAX = 900;
const COMMAND_SECONDS_MAX = 600;
const STOP_SECONDS_MAX = 60;
/** Bounds a test or hook: several commands, each with its own bound. */
const HOOK_MS_MAX = 1_200_000;
jest.setTimeout(HOOK_MS_MAX);

let copy: string;
let shell: Shell;
let files: string;

const run = (command: string): Promise<string> => shell.run(command, COMMAND_SECONDS_MAX);

beforeAll(async () => {
  copy = await makeCleanCopy();
  shell = new Shell(copy, process.env);
  files = await mkdtemp(join(tmpdir(), "command-files-"));
  await shell.run("npm ci", INSTALL_SECONDS_MAX);
});
afterAll(async () => {
  await shell.killAll();
  for (const folder of [copy, files]) await rm(folder, { recursive: true, force: true });
});

describe("with nothing running", () => {
  const alone = commands.filter(isAlone);
  const isBenchmark = (command: string): boolean => command.startsWith("npm run bench:");
  const others = alone.filter((command) => !isBenchmark(command));
  /** Options that make a benchmark measure something else. */
  const OTHER_MEASUREMENTS = ["--tracing", "--against"];
  const kindOf = (command: string): string =>
    [scriptOf(command), ...OTHER_MEASUREMENTS.filter((option) => command.includes(` ${option}`))].join(" ");
  /** Each benchmark once, with the options of all its commands. */
  const benchmarks = Object.values(Object.groupBy(alone.filter(isBenchmark), kindOf)).map((uses = []) =>
    [scriptOf(uses[0] ?? ""), [...new Set(uses.flatMap(optionsOf))].join(" ")].filter(Boolean).join(" -- "),
  );

  it.each(others)("%s works before anything is built", async (command) => {
    await deleteBuilds(copy, shell);
    await run(command);
  });

  it.each(benchmarks)("%s works, and reports that BENCH_SIZE=tiny measures nothing", async (command) => {
    const filled = command.replace("FILE", join(files, "result.json")).replace("DIR", join(files, "profiles")).replace("FOLDER", copy);
    expect(await run(`BENCH_SIZE=tiny ${filled}`)).toContain("NO MEASUREMENT: BENCH_SIZE=tiny");
  });
});

describe("in addition to npm start", () => {
  let launcher: Command;
  let baseUrl: string;
  let platform: Database;
  let receivers: ReceiverServer;
  let brand: string;
  let receiver: string;
  let delivery: string;
  let event: string;

  beforeAll(async () => {
    const port = await freePort();
    shell.set("PORT", String(port));
    // The documented walks read all records of a brand, one after another.
    shell.set("RATE_LIMIT_PLUS", "100000");
    launcher = shell.start("npm start");
    await launcher.shows(/is running at/, COMMAND_SECONDS_MAX);
    const runFile = JSON.parse(await run("cat .local/run.json")) as {
      base_url: string;
      platform_database_url: string;
      brands: { id: string; keys: { reporting: string; planner: string } }[];
    };
    const [first] = runFile.brands;
    const smallest = runFile.brands.at(-1);
    brand = first?.id ?? "";
    baseUrl = runFile.base_url;
    shell.set("BRAND_RECORDS_URL", baseUrl);
    // Walks read everything that it has.
    shell.set("BRAND_RECORDS_KEY", smallest?.keys.planner ?? "");
    shell.set("PLANNER_KEY", first?.keys.planner ?? "");
    shell.set("NEW_KEY", first?.keys.planner ?? "");
    // The brands' command line, as it is installed, with the files that a reader writes.
    await run("npx tsc -b clients/cli && node clients/cli/bundle.js");
    await run(`printf 'whsec_%s=' ${"A".repeat(43)} > secret`);
    platform = openPool({ url: runFile.platform_database_url, applicationName: "commands" });
    const [link] = await platform.query<{ id: string }>("select id from records.links where brand_id = $1 limit 1", [smallest?.id]);
    // Each command has a shell of its own.
    shell.set("LINK", link?.id ?? "none");
    receivers = await startReceivers();
    const created = await run(
      `npx brandctl receivers create --brand ${brand} --url ${receivers.url} --label Docs --events submission.approved,payout.paid --json`,
    );
    receiver = (JSON.parse(created) as { id: string }).id;
    await run(`npx brandctl members add ${MEMBER} --brand ${brand}`);
    await run(`npx brandctl records set-status submission ${await pending("submissions")} approved`);
    ({ delivery, event } = await eventually(
      async () => {
        const { deliveries } = JSON.parse(await run(`npx brandctl deliveries list --brand ${brand} --receiver ${receiver} --json`)) as {
          deliveries: { id: string; event_id: string; state: string }[];
        };
        expect(deliveries[0]?.state).toBe("delivered");
        return { delivery: deliveries[0]?.id ?? "", event: deliveries[0]?.event_id ?? "" };
      },
      { timeoutMs: 60_000 },
    ));
  });
  afterAll(async () => {
    await platform.stop();
    receivers.stop();
    await launcher.interrupt(STOP_SECONDS_MAX);
    expect(launcher.output()).toContain("Stopped.");
  });

  /** Returns the id of a record whose status can still change. */
  async function pending(resource: "submissions" | "payouts"): Promise<string> {
    const status = resource === "payouts" ? "processing" : "pending";
    const [row] = await platform.query<{ id: string }>(`select id from records.${resource} where brand_id = $1 and status = $2 limit 1`, [
      brand,
      status,
    ]);
    return row?.id ?? "none";
  }

  /** Puts real identifiers and the real address into a command. */
  async function filled(command: string): Promise<string> {
    const text = command
      .replaceAll("brd_…", brand)
      .replaceAll("rcv_…", receiver)
      .replaceAll("dlv_…", delivery)
      .replaceAll("evt_…", event)
      .replaceAll("EMAIL", MEMBER)
      .replaceAll("127.0.0.1:8080", new URL(baseUrl).host)
      .replaceAll("http://localhost:3000/hooks", receivers.url)
      .replace(/^(brandctl|brand-records) /, "npx $1 ");
    if (text.includes("sub_…")) return text.replace("sub_…", await pending("submissions"));
    return text.includes("po_…") ? text.replace("po_…", await pending("payouts")) : text;
  }

  it.each(commands.filter((command) => !isAlone(command)))("%s works", async (command) => {
    const real = await filled(command);
    expect(real).not.toContain("…");
    if (!/\blisten\b/.test(real)) return void (await run(real));
    const listening = shell.start(`${real} --port 0`);
    await listening.shows(/Registered as rcv_/, COMMAND_SECONDS_MAX);
    await listening.interrupt(STOP_SECONDS_MAX);
    expect(listening.output()).toMatch(/rcv_\w+ is deleted/);
  });
});
