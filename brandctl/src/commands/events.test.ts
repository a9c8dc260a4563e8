import { AppError } from "@brand-records/errors";
import type { Event } from "@brand-records/proto/webhook/v1";
import { addEvents } from "../../../services/webhook/test/add-events.ts";
import { startProduct, type TestBrand } from "../../test/product.ts";
import { failing, type Outcome } from "../../test/test-terminal.ts";

const product = startProduct();
let brand: TestBrand;
beforeEach(async () => {
  brand = await product.createBrand();
});
const run = (line: string): Promise<Outcome> => product.run(`events ${line.replace("BRAND", brand.id)}`);
const FROM = "2026-11-21T08:30:00.000Z";
const add = (count: number, type = "payout.paid"): Promise<string[]> =>
  addEvents(product.db, { brandId: brand.id, from: FROM, count, type });

describe("list", () => {
  it("shows the brand's events in columns, each with its record", async () => {
    const [first = ""] = await add(1);
    const [second = ""] = await addEvents(product.db, {
      brandId: brand.id,
      from: "2026-11-21T08:31:00Z",
      count: 1,
      type: "submission.approved",
    });
    await product.db.query("update webhook.events set data = '{}' where id = $1", [second]);
    expect((await run("list --brand BRAND")).stdout.split("\n").map((line) => line.replace(/ +/g, " "))).toEqual([
      "ID TYPE CREATED (UTC) RECEIVED RECORD",
      `${second} submission.approved 2026-11-21 08:31 2026-11-21 08:31 -`,
      `${first} payout.paid 2026-11-21 08:30 2026-11-21 08:30 po_1`,
      "",
    ]);
    const { events } = (await run("list --brand BRAND --type payout.paid --json")).json<{ events: Event[] }>();
    expect(events.map(({ id }) => id)).toEqual([first]);
  });

  it.each([
    ["list --brand BRAND", { code: 0, stdout: "The brand has no events.\n" }],
    ["list --brand BRAND --type submission.rejected", { code: 0, stdout: "The brand has no submission.rejected events.\n" }],
    ["list --brand BRAND --json", { code: 0, stdout: expect.stringMatching(/^\{\s*"events": ?\[\]\s*\}\n$/) }],
    [
      "list --brand brd_zzz",
      { code: 1, stdout: "", stderr: "error: There is no brand with this id\nbrandctl brands list shows the brands\n" },
    ],
    ["list --brand brd_zzz --json", { code: 1, stdout: "", stderr: expect.stringContaining('"code":"not_found"') }],
    ["list --brand BRAND --type ping", { code: 2, stderr: expect.stringContaining("campaign.settled") }],
    ["list --brand BRAND --limit 0", { code: 2, stderr: expect.stringContaining("It must be a whole number from 1 to 999999") }],
    ["list --brand BRAND --limit many", { code: 2, stderr: expect.stringContaining("It must be a whole number from 1 to 999999") }],
  ])("of nothing, or of what is not there: %s", async (line, outcome) => {
    expect(await run(line)).toMatchObject(outcome);
  });

  it("is right without accounts too, and then gives a hint", async () => {
    product.intercepts.set("accounts.getBrand", () => Promise.reject(new AppError("unavailable", "accounts is away")));
    expect(await run("list --brand brd_zzz")).toMatchObject({
      code: 0,
      stdout: "The brand has no events. Is the id right? See brandctl brands list\n",
    });
  });

  it("reads all pages up to the limit, none larger than the service returns, and notes that there may be more", async () => {
    const all = (await add(450)).toReversed();
    const pages: number[] = [];
    product.intercepts.set("webhook.listEvents", (request: { page_size: number }, forward) => {
      pages.push(request.page_size);
      return forward();
    });
    const ids = async (line: string): Promise<string[]> =>
      (await run(`${line} --json`)).json<{ events: Event[] }>().events.map(({ id }) => id);
    expect(await ids("list --brand BRAND --limit 410")).toEqual(all.slice(0, 410));
    expect(pages).toEqual([200, 200, 10]);
    expect(await ids("list --brand BRAND")).toEqual(all.slice(0, 50));
    expect(await ids("list --brand BRAND --limit 9999")).toEqual(all);
    expect((await run("list --brand BRAND")).stderr).toContain("Limited to 50; there may be older ones: see --limit");
    expect((await run("list --brand BRAND --limit 9999")).stderr).toBe("");
  });
});

describe("dead letters", () => {
  beforeEach(() => product.db.query("truncate webhook.dead_letters"));
  /** Messages that are no events, so that a replay finds them as dead as before, or of events that are not there. */
  const letters = (count: number): Promise<unknown> =>
    product.db.query(
      `insert into webhook.dead_letters (position, reason, key, value, headers, dead_lettered_at)
       select 'brand.events/0@' || n, 'not JSON', $1, convert_to(repeat('x', 600), 'UTF8'), '{}', '2026-11-21T08:30:00Z' from generate_series(0, $2::int - 1) n`,
      ["sub_1\u001b[2J", count],
    );

  it("are shown with the reason, control characters in keys replaced, and the next command", async () => {
    await letters(1);
    const { stdout, stderr } = await run("list-dead");
    expect(stdout.split("\n").map((line) => line.replace(/ +/g, " "))).toEqual([
      "POSITION DEAD SINCE (UTC) KEY BYTES REASON",
      expect.stringMatching(/ 2026-11-21 08:30 sub_1\ufffd\[2J 600 not JSON$/),
      "",
    ]);
    expect(stderr).toContain("brandctl events replay-dead");
  });

  it("are limited, with the number of those left out", async () => {
    await letters(300);
    expect((await run("list-dead")).stderr).toContain("And 250 more");
    const { dead_letters, total } = (await run("list-dead --limit 999 --json")).json<{ dead_letters: object[]; total: number }>();
    expect([dead_letters.length, total]).toEqual([200, 300]);
  });

  it("are replayed, for which there are 10 minutes", async () => {
    await letters(2);
    expect(await run("replay-dead")).toMatchObject({
      code: 0,
      stdout: "2 messages replayed.\n",
      stderr: expect.stringContaining("brandctl events list-dead"),
    });
    await product.db.query("truncate webhook.dead_letters");
    expect((await run("replay-dead --json")).json()).toEqual({ replayed: 0 });
    expect((await run("replay-dead")).stdout).toBe("There were no dead letters.\n");
    expect((await run("list-dead")).stdout).toBe("There are no dead letters: every message was read.\n");
    const deadlines: number[] = [];
    product.intercepts.set("webhook.replayDeadLetters", async (_, _forward, { deadline }) => {
      deadlines.push(deadline - Date.now());
      return { replayed: 0 };
    });
    await run("replay-dead");
    expect(deadlines[0]).toBeGreaterThan(540_000);
    expect(deadlines[0]).toBeLessThanOrEqual(600_000);
  });

  it("are left alone while another command replays them, with what to do next", async () => {
    const conflict = () => Promise.reject(new AppError("request_conflict", "The dead letters are being replayed already"));
    product.intercepts.set("webhook.replayDeadLetters", conflict);
    expect(await run("replay-dead")).toMatchObject(failing(1, "Another command is replaying the dead letters."));
    expect(JSON.parse((await run("replay-dead --json")).stderr)).toMatchObject({
      error: { code: "request_conflict", hint: expect.stringContaining("brandctl events list-dead shows what is left") },
    });
  });
});
