import { AppError } from "@brand-records/errors";
import { OperatorServiceService } from "@brand-records/proto/records/v1";
import { service } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { PassThrough } from "node:stream";
import { FakeAccounts } from "../testing/fake-accounts.ts";
import { FakeData } from "../testing/fake-data.ts";
import { FakePlans } from "../testing/fake-plans.ts";
import { FakeWebhook } from "../testing/fake-webhook.ts";
import { serve, type Served } from "../testing/serve.ts";
import { brandctl, Recorder, typing, type Outcome, type Surroundings } from "../testing/test-terminal.ts";

const NAME = "Ulap at Araw";
let accounts: FakeAccounts;
let plans: FakePlans;
let webhook: FakeWebhook;
let records: FakeData;
let served: Served[];
let env: NodeJS.ProcessEnv;
const run = (args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> =>
  brandctl(["brands", ...args], { env, ...surroundings });
const CONFIRMED = ["--confirm", NAME, "--yes"];

beforeEach(async () => {
  accounts = new FakeAccounts();
  plans = new FakePlans();
  webhook = new FakeWebhook();
  records = new FakeData();
  accounts.add({ name: NAME });
  served = [
    await serve(...accounts.served),
    await serve(...plans.served),
    await serve(service(OperatorServiceService, { deleteBrandData: records.deleteBrandData })),
    await serve(...webhook.served),
  ];
  const [ACCOUNTS_ADDRESS, PLANS_ADDRESS, RECORDS_ADDRESS, WEBHOOK_ADDRESS] = served.map(({ address }) => address);
  env = { ACCOUNTS_ADDRESS, PLANS_ADDRESS, RECORDS_ADDRESS, WEBHOOK_ADDRESS };
});
afterEach(async () => {
  for (const each of served) await each.stop();
});

it("deletes in every service until a round finds nothing, and adds up what was deleted", async () => {
  records.results.push({ deleted: [{ kind: "payouts", rows: 5 }], done: false }, { deleted: [{ kind: "payouts", rows: 1 }] });
  // A request from before the deletion: the round after it finds nothing.
  plans.data.results.push({}, { deleted: [{ kind: "plans", rows: 1 }] });
  webhook.deadLetters.push({ position: "p", reason: "r", key: "k", bytes: 1, dead_lettered_at: "2026-11-21T08:30:00.000Z" });
  const { code, json } = await run(["delete", "brd_1", ...CONFIRMED, "--json"]);
  expect(code).toBe(0);
  expect(json()).toEqual({
    deleted: {
      brand_id: "brd_1",
      started_at: "2026-11-21T08:30:00.000Z",
      rows: { payouts: 6, plans: 1, usage: 7 },
      log: { cleared: true, dead_letters: 1, behind: [] },
      redis_expires: false,
    },
  });
  expect(accounts.deletions).toEqual(new Set(["brd_1"]));
});

it("says what will be lost, and asks twice at a terminal: for the name, and whether it is meant", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Recorder(true);
  const running = run(["delete", "brd_1"], { stdin, isTerminal: true, stderr });
  await eventually(() => expect(stderr.text).toContain("name, to confirm"));
  expect(stderr.text).toContain("0 receivers with 0 waiting deliveries");
  stdin.write(`${NAME}\n`);
  await eventually(() => expect(stderr.text).toContain("[y/N]"));
  expect(accounts.deletions.size).toBe(0);
  stdin.write("y\n");
  const { code, stdout } = await running;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "brd_1 is deleted.\n  7 usage\n" });
});

it.each<[string, readonly string[], Surroundings, number]>([
  ["another name is typed", [], typing("Ulap"), 1],
  ["another name is given", ["--confirm", "Ulap", "--yes"], {}, 1],
  ["the second answer is no", ["--confirm", NAME], typing("n"), 1],
  ["there is no terminal, and no --yes", ["--confirm", NAME], {}, 2],
  ["there is no terminal, and no --confirm", ["--yes"], {}, 2],
])("deletes nothing if %s", async (_, options, surroundings, code) => {
  expect(await run(["delete", "brd_1", ...options], surroundings)).toMatchObject({ code });
  expect(accounts.deletions.size).toBe(0);
});

it("continues a deletion without asking, and refuses a brand that never was", async () => {
  accounts.brands.clear();
  accounts.deletions.add("brd_1");
  const { code, stderr } = await run(["delete", "brd_1"]);
  expect(code).toBe(0);
  expect(stderr).toContain("The deletion began at 2026-11-21 08:30 UTC and continues.");
  expect(await run(["delete", "brd_2"])).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no brand with this id") });
});

it("says that other commands do not change a deleted brand", async () => {
  accounts.audit.onAppend = () => {
    throw new AppError("not_found", "The brand was deleted.", { field: "brand_id" });
  };
  const { code, stderr } = await run(["set-tier", "brd_1", "pro"]);
  expect(code).toBe(1);
  expect(stderr).toContain("error: The brand was deleted.");
});

it("says how to continue after Ctrl-C and after a failure", async () => {
  const interrupted = new AbortController();
  records.onCall = () => interrupted.abort();
  const stopped = await run(["delete", "brd_1", ...CONFIRMED], { interrupted: interrupted.signal });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain("to continue: brandctl brands delete brd_1");
  records.onCall = () => {
    throw new Error("the database is gone");
  };
  const failed = await run(["delete", "brd_1"]);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("to continue: brandctl brands delete brd_1");
});

it("gives up if records of the brand keep arriving", async () => {
  for (let round = 0; round < 10; round += 1) records.results.push({ deleted: [{ kind: "links", rows: 1 }] });
  const { code, stderr } = await run(["delete", "brd_1", ...CONFIRMED]);
  expect(code).toBe(1);
  expect(stderr).toContain("The platform still writes records of this brand");
});

it("ends with 4 if messages stay in the log, says why, and until when", async () => {
  webhook.trimmed = { done: false, refused: "TOPIC_AUTHORIZATION_FAILED", kept_until: "2026-11-28T08:30:00.000Z" };
  const { code, stdout } = await run(["delete", "brd_1", ...CONFIRMED]);
  expect(code).toBe(4);
  expect(stdout).toContain("Kafka refuses to remove messages: TOPIC_AUTHORIZATION_FAILED");
  expect(stdout).toContain("Its retention removes them by 2026-11-28 08:30 UTC");
});

it("ends with 4 if Kafka refuses to remove dead letters, and finishes all else", async () => {
  webhook.isLogProtected = true;
  const { code, stdout } = await run(["delete", "brd_1", ...CONFIRMED]);
  expect(code).toBe(4);
  expect(stdout).toContain("brand.events.dead: TOPIC_AUTHORIZATION_FAILED");
  expect(stdout).toContain("7 usage");
});

it("says that Redis could not be reached", async () => {
  accounts.isRedisDown = true;
  const { code, stderr } = await run(["delete", "brd_1", ...CONFIRMED]);
  expect(code).toBe(0);
  expect(stderr).toContain("expires within an hour");
});

it("lists a brand that is being deleted as such", async () => {
  accounts.add({ id: "brd_2", name: "Kape", deletion_started_at: "2026-11-21T08:30:00.000Z" });
  expect((await run(["list"])).stdout).toContain("since 2026-11-21 08:30: continue with brands delete");
});
