import { PassThrough } from "node:stream";
import { AppError } from "@brand-records/errors";
import { eventually } from "@brand-records/testkit";
import { startProduct, type Intercept, type TestBrand } from "../../test/product.ts";
import { serve } from "../../test/serve.ts";
import { failing, Recorder, typing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

const NAME = "Ulap";
const CONFIRMED = ["--confirm", NAME, "--yes"];
const KEPT_UNTIL = "2026-11-28T08:40:00.000Z";
const product = startProduct();
let brand: TestBrand;

const run = (args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> => product.run(["brands", ...args], surroundings);
const remove = (...args: string[]): Promise<Outcome> => run(["delete", brand.id, ...args]);
const hasBegun = async (): Promise<boolean> =>
  (await product.db.query("select from accounts.brands where id = $1 and deletion_started_at is null", [brand.id])).length === 0;

interface Result {
  readonly deleted: { kind: string; rows: number }[];
  readonly done: boolean;
  readonly waiting_for?: string;
  readonly outbox_after: number;
}

/** Answers the next calls of a service with these results, then the service itself. */
function deletesFirst(service: "plans" | "records" | "webhook", ...results: Partial<Result>[]): void {
  product.intercepts.set(`${service}.deleteBrandData`, async (_, forward) => {
    const next = results.shift();
    return next === undefined ? forward() : { deleted: [], done: true, outbox_after: 0, ...next };
  });
}

/** Makes webhook's log what Kafka's would be; the services here have none. */
const answerLog = (trimLog: Intercept): void => void product.intercepts.set("webhook.trimLog", trimLog);
let trims: number;

beforeEach(async () => {
  brand = await product.createBrand();
  trims = 0;
  // Nothing settles for 31 s here: what the services refuse until then is over at once.
  product.intercepts.set("accounts.beginBrandDeletion", async (_, forward) => {
    const begun = (await forward()) as object;
    await product.db.query("update accounts.audit_entries set created_at = created_at - interval '2 minutes' where brand_id = $1", [
      brand.id,
    ]);
    return { ...begun, settles_in_ms: 20, quiet_ms: 20 };
  });
  answerLog(async ({ up_to }: { up_to: object[] }) => {
    if (up_to.length === 0) return { up_to: [{ partition: 0, offset: 5 }], done: false, behind: [], kept_until: KEPT_UNTIL };
    trims += 1;
    return { up_to, done: true, behind: [] };
  });
});

it("deletes in every service until a round finds nothing, and adds up what was deleted", async () => {
  deletesFirst("records", { deleted: [{ kind: "payouts", rows: 5 }], done: false }, { deleted: [{ kind: "payouts", rows: 1 }] });
  // A request from before the deletion: the round after it finds nothing.
  deletesFirst("plans", {}, { deleted: [{ kind: "plans", rows: 1 }] });
  await product.db.query("insert into webhook.dead_letters (position, reason, key, value, headers) values ('p', 'r', 'k', $1, $2)", [
    Buffer.from(JSON.stringify({ brand_id: brand.id })),
    "{}",
  ]);
  const { code, json } = await remove(...CONFIRMED, "--json");
  expect(code).toBe(0);
  expect(json()).toEqual({
    deleted: {
      brand_id: brand.id,
      started_at: expect.any(String),
      resumed: false,
      rows_of_this_run: expect.objectContaining({ payouts: 6, plans: 1 }),
      log: { cleared: true, dead_letters: 1, behind: [] },
      redis_expires: false,
    },
  });
  expect(await product.db.query("select from accounts.brands where id = $1", [brand.id])).toEqual([]);
});

it("says what will be lost, and asks twice at a terminal: for the name, and whether it is meant", async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Recorder(true);
  const running = run(["delete", brand.id], { stdin, isTerminal: true, stderr });
  await eventually(() => expect(stderr.text).toContain("name, to confirm"));
  for (const text of [
    "1 member\n  0 keys in use\n  0 receivers with 0 waiting deliveries",
    "messages of all brands are removed from the event log",
    "Readers that commit no offset to Kafka lose what they have not read.",
  ])
    expect(stderr.text).toContain(text);
  stdin.write(`${NAME}\n`);
  await eventually(() => expect(stderr.text).toContain("[y/N]"));
  expect(await hasBegun()).toBe(false);
  stdin.write("y\n");
  const { code, stdout } = await running;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${brand.id} is deleted.\n  2 audit entries\n` });
});

it.each<[string, readonly string[], Surroundings, number]>([
  ["another name is typed", [], typing("Araw"), 1],
  ["another name is given", ["--confirm", "Araw", "--yes"], {}, 1],
  ["the input ends (Ctrl-D)", [], typing(""), 1],
  ["the second answer is no", ["--confirm", NAME], typing("n"), 1],
  ["there is no terminal, and no --yes", ["--confirm", NAME], {}, 2],
  ["there is no terminal, and no --confirm", ["--yes"], {}, 2],
])("deletes nothing if %s", async (_, options, surroundings, code) => {
  expect(await run(["delete", brand.id, ...options], surroundings)).toMatchObject({ code });
  expect(await hasBegun()).toBe(false);
});

it("says how to continue after Ctrl-C and after a failure, continues without asking, and refuses a brand that never was", async () => {
  const interrupted = new AbortController();
  product.intercepts.set("records.deleteBrandData", (_, forward) => {
    interrupted.abort();
    return forward();
  });
  const stopped = await run(["delete", brand.id, ...CONFIRMED], { interrupted: interrupted.signal });
  expect([stopped.code, stopped.stderr]).toEqual([130, expect.stringContaining(`to continue: brandctl brands delete ${brand.id}`)]);
  expect((await run(["list"])).stdout).toMatch(new RegExp(`${brand.id} .*since 20[-\\d: ]+: continue with brands delete`));
  product.failNext("records.deleteBrandData", new Error("the database is gone"));
  const failed = await remove("--keep-log");
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`to continue: brandctl brands delete ${brand.id} --keep-log`)]);
  expect(await remove()).toMatchObject({ code: 0, stderr: expect.stringMatching(/The deletion began at 20[-\d: ]+ UTC and continues\./) });
  expect(await run(["delete", "brd_none"])).toMatchObject(failing(1, "There is no brand with this id"));
});

const LINK = { deleted: [{ kind: "links", rows: 1 }] };

it.each([
  ["keep arriving", Array.from({ length: 10 }, () => LINK)],
  ["arrive now and then, between rounds that find nothing", [{}, ...Array.from({ length: 10 }, () => [{}, LINK]).flat()]],
])("gives up if records of the brand %s", async (_, results) => {
  deletesFirst("records", ...results);
  expect(await remove(...CONFIRMED)).toMatchObject(failing(1, "The platform still writes or imports records of this brand"));
});

it.each(["plans", "records", "webhook"])("refuses before anything is deleted if %s cannot be reached", async (name) => {
  const closed = await serve();
  await closed.stop();
  const env = { ...product.env, [`${name.toUpperCase()}_ADDRESS`]: closed.address };
  expect(await run(["delete", brand.id, ...CONFIRMED], { env })).toMatchObject(
    failing(1, `Nothing was deleted. ${name} cannot be reached`),
  );
  expect(await hasBegun()).toBe(false);
});

it("closes the brand at webhook first, and continues the search of the outbox where the call before ended, each round at its beginning", async () => {
  const order: string[] = [];
  for (const name of ["webhook", "plans"]) {
    product.intercepts.set(`${name}.deleteBrandData`, async (_, forward) => {
      order.push(`${name}, begun ${await hasBegun()}`);
      return forward() as Promise<unknown>;
    });
  }
  const searchedFrom: number[] = [];
  product.intercepts.set("records.deleteBrandData", async ({ outbox_after }: { outbox_after: number }) => {
    searchedFrom.push(outbox_after);
    order.push("records");
    const done = searchedFrom.length > 2;
    return { deleted: [], done, outbox_after: done ? 0 : 5_000 * searchedFrom.length };
  });
  expect((await remove(...CONFIRMED)).code).toBe(0);
  expect(searchedFrom.slice(0, 4)).toEqual([0, 5_000, 10_000, 0]);
  expect(order.slice(0, 3)).toEqual(["webhook, begun true", "plans, begun true", "records"]);
});

it("says what it waits for once, where there is no status line, and that Redis could not be reached", async () => {
  product.intercepts.set("accounts.finishBrandDeletion", async (_, forward) => ({
    ...((await forward()) as object),
    redis_unavailable: true,
  }));
  const waiting = { done: false, waiting_for: "attempts in flight (2)" };
  deletesFirst("webhook", waiting, { ...waiting, waiting_for: "attempts in flight (1)" });
  const { stderr } = await remove(...CONFIRMED);
  expect(stderr.match(/Waiting in webhook for attempts in flight\./g)).toHaveLength(1);
  expect(stderr).toContain("expires within an hour");
});

describe("the event log", () => {
  it("ends with 4 if Kafka refuses to remove messages, says why, and until when", async () => {
    const refused = { refused: "TOPIC_AUTHORIZATION_FAILED", kept_until: KEPT_UNTIL };
    answerLog(async () => ({ up_to: [{ partition: 0, offset: 5 }], done: false, behind: [], ...refused }));
    const text =
      "Kafka refuses to remove messages: TOPIC_AUTHORIZATION_FAILED\nIts retention removes them by 2026-11-28 08:40 UTC. To try again";
    expect(await remove(...CONFIRMED)).toMatchObject({ code: 4, stdout: expect.stringContaining(text) });
  });

  it("ends with 4 if Kafka refuses to remove dead letters, and finishes all else", async () => {
    const refusal = new AppError("permission_required", "brand.events.dead: TOPIC_AUTHORIZATION_FAILED");
    product.failNext("webhook.removeDeadLetters", refusal);
    const { code, stdout } = await remove(...CONFIRMED);
    expect([code, stdout]).toEqual([4, expect.stringContaining("brand.events.dead: TOPIC_AUTHORIZATION_FAILED")]);
    expect(await product.db.query("select from accounts.brands where id = $1", [brand.id])).toEqual([]);
  });

  it("is left as it is with --keep-log, which says until when retention keeps the messages, and ends with 4", async () => {
    const { code, stdout } = await remove(...CONFIRMED, "--keep-log");
    expect({ code, trims }).toEqual({ code: 4, trims: 0 });
    expect(stdout).toContain("Its retention removes them by 2026-11-28 08:40 UTC.");
  });

  it("has nothing to keep where it stores nothing", async () => {
    product.intercepts.delete("webhook.trimLog");
    const { code, stdout } = await remove(...CONFIRMED, "--keep-log");
    expect(code).toBe(0);
    expect(stdout).not.toContain("event log");
  });

  it("may be down with --keep-log, which says so", async () => {
    answerLog(() => Promise.reject(new AppError("unavailable", "Kafka is unavailable")));
    expect(await remove(...CONFIRMED, "--keep-log")).toMatchObject({
      code: 4,
      stdout: expect.stringContaining("It could not be reached, its dead letters neither: Kafka is unavailable"),
    });
  });

  it("is cleared again for a brand that is deleted already only if it is asked to, and may name what a repeat found", async () => {
    await remove(...CONFIRMED);
    trims = 0;
    const { code, stdout } = await remove();
    expect({ code, trims, stdout }).toEqual({ code: 0, trims: 0, stdout: expect.stringContaining("This run found nothing.") });
    expect((await remove("--clear-log")).code).toBe(0);
    expect(trims).toBe(1);
    deletesFirst("records", LINK);
    const found = await remove();
    expect({ code: found.code, trims }).toEqual({ code: 4, trims: 1 });
    expect(found.stdout).toContain("This run deleted:");
    expect(found.stdout).toContain(`To remove them: brandctl brands delete ${brand.id} --clear-log`);
  });
});
