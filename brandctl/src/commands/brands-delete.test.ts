import { AppError } from "@brand-records/errors";
import { OperatorServiceService } from "@brand-records/proto/records/v1";
import { service } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { PassThrough } from "node:stream";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { FakeData } from "../../test/fake-data.ts";
import { FakePlans } from "../../test/fake-plans.ts";
import { FakeWebhook } from "../../test/fake-webhook.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, Recorder, typing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

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
      resumed: false,
      rows_of_this_run: { payouts: 6, plans: 1, usage: 7 },
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
  expect(stderr.text).toContain("messages of all brands are removed from the event log");
  expect(stderr.text).toContain("Readers that commit no offset to Kafka lose what they have not read.");
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
  ["the input ends (Ctrl-D)", [], typing(""), 1],
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
  expect(stderr).toContain("The platform still writes or imports records of this brand");
});

it("gives up if a record of the brand arrives now and then, between rounds that find nothing", async () => {
  records.results.push({});
  for (let round = 0; round < 10; round += 1) records.results.push({}, { deleted: [{ kind: "links", rows: 1 }] });
  const { code, stderr } = await run(["delete", "brd_1", ...CONFIRMED]);
  expect(code).toBe(1);
  expect(stderr).toContain("The platform still writes or imports records of this brand");
});

it("refuses before anything is deleted if a service cannot be reached", async () => {
  for (const at of [1, 2, 3]) {
    await served[at]?.stop();
    const { code, stderr } = await run(["delete", "brd_1", ...CONFIRMED]);
    expect(code).toBe(1);
    expect(stderr).toContain(`Nothing was deleted. ${["plans", "records", "webhook"][at - 1] ?? ""} cannot be reached`);
    expect(accounts.deletions.size).toBe(0);
    const services =
      [plans.served, [service(OperatorServiceService, { deleteBrandData: records.deleteBrandData })], webhook.served][at - 1] ?? [];
    served[at] = await serve(...services);
    env[["", "PLANS_ADDRESS", "RECORDS_ADDRESS", "WEBHOOK_ADDRESS"][at] ?? ""] = served[at].address;
  }
});

it("closes the brand at webhook before any other service deletes", async () => {
  const order: string[] = [];
  webhook.data.onCall = () => void order.push(`webhook, begun ${accounts.deletions.has("brd_1")}`);
  plans.data.onCall = () => void order.push("plans");
  records.onCall = () => void order.push("records");
  await run(["delete", "brd_1", ...CONFIRMED]);
  expect(order.slice(0, 3)).toEqual(["webhook, begun true", "plans", "records"]);
});

it("continues the search of the outbox where the call before ended, and each round at its beginning", async () => {
  records.results.push({ done: false, outbox_after: 5_000 }, { done: false, outbox_after: 10_000 });
  expect((await run(["delete", "brd_1", ...CONFIRMED])).code).toBe(0);
  expect(records.searchedFrom.slice(0, 4)).toEqual([0, 5_000, 10_000, 0]);
});

it("says what it waits for once, where there is no status line", async () => {
  const waiting = { done: false, waiting_for: "attempts in flight (2)" };
  webhook.data.results.push(waiting, { ...waiting, waiting_for: "attempts in flight (1)" });
  const { stderr } = await run(["delete", "brd_1", ...CONFIRMED]);
  expect(stderr.match(/Waiting in webhook for attempts in flight\./g)).toHaveLength(1);
});

describe("--keep-log", () => {
  const keep = (...more: string[]): Promise<Outcome> => run(["delete", "brd_1", ...CONFIRMED, "--keep-log", ...more]);

  it("says until when retention keeps the messages, and ends with 4", async () => {
    const { code, stdout } = await keep();
    expect({ code, trims: webhook.trims }).toEqual({ code: 4, trims: 0 });
    expect(stdout).toContain("Its retention removes them by 2026-11-28 08:40 UTC.");
  });

  it("has nothing to keep where the log stores nothing", async () => {
    webhook.hasLog = false;
    const { code, stdout } = await keep();
    expect(code).toBe(0);
    expect(stdout).not.toContain("event log");
  });

  it("finishes while the log is down, and says so", async () => {
    webhook.isLogDown = true;
    const { code, stdout } = await keep();
    expect(code).toBe(4);
    expect(stdout).toContain("It could not be reached, its dead letters neither: Kafka is unavailable");
    expect(stdout).toContain("7 usage");
  });

  it("is named in the command that continues", async () => {
    records.onCall = () => {
      throw new Error("the database is gone");
    };
    expect((await keep()).stderr).toContain("to continue: brandctl brands delete brd_1 --keep-log");
  });
});

describe("a repeat for a brand that is deleted already", () => {
  beforeEach(() => {
    accounts.brands.clear();
    accounts.deletions.add("brd_1");
    accounts.isFinished = true;
  });

  it("does not remove messages from the log again, unless it is asked to", async () => {
    const { code, stdout } = await run(["delete", "brd_1"]);
    expect({ code, trims: webhook.trims }).toEqual({ code: 0, trims: 0 });
    expect(stdout).toContain("This run deleted:");
    expect((await run(["delete", "brd_1", "--clear-log"])).code).toBe(0);
    expect(webhook.trims).toBe(1);
  });

  it("says that the log may name what it found", async () => {
    records.results.push({ deleted: [{ kind: "links", rows: 1 }] });
    const { code, stdout } = await run(["delete", "brd_1"]);
    expect({ code, trims: webhook.trims }).toEqual({ code: 4, trims: 0 });
    expect(stdout).toContain("To remove them: brandctl brands delete brd_1 --clear-log");
  });
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
