import type { Event } from "@brand-records/proto/webhook/v1";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { eventOf, FakeWebhook } from "../../test/fake-webhook.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome } from "../../test/test-terminal.ts";

describe("brandctl events", () => {
  let fake: FakeWebhook;
  let served: Served;
  const run = (line: string): Promise<Outcome> => brandctl(line.split(" "), { env: { WEBHOOK_ADDRESS: served.address } });

  beforeAll(async () => {
    fake = new FakeWebhook();
    served = await serve(...fake.served);
  });
  afterAll(() => served.stop());
  beforeEach(() => {
    for (const all of [fake.events, fake.deadLetters, fake.requests]) all.splice(0);
  });

  describe("list", () => {
    it("shows the brand's events in columns, each with its record", async () => {
      fake.events.push(
        eventOf({ id: "evt_2", type: "submission.approved", data_json: '{"id":"sub_1"}' }),
        eventOf(),
        eventOf({ id: "evt_0", data_json: "{" }),
        eventOf({ id: "evt_9", brand_id: "brd_other" }),
      );
      expect((await run("events list --brand brd_1")).stdout.split("\n")).toEqual([
        "ID     TYPE                 CREATED (UTC)     RECEIVED          RECORD",
        "evt_2  submission.approved  2026-11-21 08:30  2026-11-21 08:30  sub_1",
        "evt_1  payout.paid          2026-11-21 08:30  2026-11-21 08:30  po_1",
        "evt_0  payout.paid          2026-11-21 08:30  2026-11-21 08:30  -",
        "",
      ]);
    });

    it("shows only the type given with --type, and gives a hint if there are none", async () => {
      fake.events.push(eventOf(), eventOf({ id: "evt_2", type: "campaign.settled" }));
      const { events } = (await run("events list --brand brd_1 --type campaign.settled --json")).json<{ events: Event[] }>();
      expect(events.map(({ id }) => id)).toEqual(["evt_2"]);
      expect((await run("events list --brand brd_1 --type submission.rejected")).stdout).toBe(
        "The brand has no submission.rejected events. Is the id right? See brandctl brands list\n",
      );
      expect(await run("events list --brand brd_1 --type ping")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("campaign.settled"),
      });
    });

    it("fails with not_found for an unknown brand, if accounts is reachable", async () => {
      const accounts = new FakeAccounts();
      accounts.add();
      const other = await serve(...accounts.served);
      const runWithAccounts = (line: string): Promise<Outcome> => run(`events ${line} --accounts-address ${other.address}`);
      try {
        expect(await runWithAccounts("list --brand brd_zzz")).toMatchObject({
          code: 1,
          stdout: "",
          stderr: "error: There is no brand with this id\nbrandctl brands list shows the brands\n",
        });
        const { code, stdout, stderr } = await runWithAccounts("list --brand brd_zzz --json");
        expect({ code, stdout, error: JSON.parse(stderr) }).toMatchObject({ code: 1, stdout: "", error: { error: { code: "not_found" } } });
        expect(await runWithAccounts("list --brand brd_1")).toMatchObject({ code: 0, stdout: "The brand has no events.\n" });
        expect((await runWithAccounts("list --brand brd_1 --json")).json()).toEqual({ events: [] });
      } finally {
        await other.stop();
      }
      // The list is right without accounts too.
      expect(await runWithAccounts("list --brand brd_zzz")).toMatchObject({ code: 0, stdout: expect.stringContaining("Is the id right?") });
    });

    it("reads all pages up to the limit, and notes that there may be more", async () => {
      fake.events.push(...Array.from({ length: 450 }, (_, at) => eventOf({ id: `evt_${at}` })));
      const ids = async (line: string): Promise<string[]> =>
        (await run(`${line} --json`)).json<{ events: Event[] }>().events.map(({ id }) => id);
      const all = fake.events.map(({ id }) => id);
      expect(await ids("events list --brand brd_1 --limit 410")).toEqual(all.slice(0, 410));
      expect(fake.requests.map(({ page_size, after_id }) => [page_size, after_id])).toEqual([
        [200, null],
        [200, "evt_199"],
        [10, "evt_399"],
      ]);
      expect(await ids("events list --brand brd_1")).toEqual(all.slice(0, 50));
      expect(await ids("events list --brand brd_1 --limit 9999")).toEqual(all);
      expect((await run("events list --brand brd_1")).stderr).toContain("Limited to 50; there may be older ones: see --limit");
      expect((await run("events list --brand brd_1 --limit 9999")).stderr).toBe("");
    });

    it.each(["0", "many"])("refuses --limit %s", async (limit) => {
      expect(await run(`events list --brand brd_1 --limit ${limit}`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("It must be a whole number from 1 to 999999"),
      });
    });
  });

  describe("dead letters", () => {
    const letters = (count: number): void => {
      for (let at = 0; at < count; at += 1) {
        const position = `brand.events/0@${at}`;
        fake.deadLetters.push({
          position,
          reason: "not JSON",
          dead_lettered_at: "2026-11-21T08:30:00.000Z",
          key: "sub_1\u001b[2J",
          bytes: 600,
        });
      }
    };

    it("are shown with the reason, control characters in keys replaced, and the next command", async () => {
      letters(1);
      const { stdout, stderr } = await run("events list-dead");
      expect(stdout.split("\n")).toEqual([
        "POSITION          DEAD SINCE (UTC)  KEY        BYTES  REASON",
        "brand.events/0@0  2026-11-21 08:30  sub_1\ufffd[2J    600  not JSON",
        "",
      ]);
      expect(stderr).toContain("brandctl events replay-dead");
    });

    it("are limited, with the number of those left out", async () => {
      letters(300);
      expect((await run("events list-dead")).stderr).toContain("And 250 more");
      expect((await run("events list-dead --limit 999 --json")).json()).toEqual({
        dead_letters: fake.deadLetters.slice(0, 200),
        total: 300,
      });
    });

    it("have up to 10 minutes to be replayed", async () => {
      await run("events replay-dead");
      expect(fake.replayDeadMs).toBeGreaterThan(540_000);
      expect(fake.replayDeadMs).toBeLessThanOrEqual(600_000);
    });

    it("are left alone while another command replays them, with what to do next", async () => {
      letters(1);
      fake.deadLettersTaken = true;
      const outcome = await run("events replay-dead");
      const { stderr } = await run("events replay-dead --json");
      fake.deadLettersTaken = false;
      expect(outcome).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining("Another command is replaying the dead letters."),
      });
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: "request_conflict", hint: expect.stringContaining("brandctl events list-dead shows what is left") },
      });
    });

    it("are replayed", async () => {
      letters(2);
      expect(await run("events replay-dead")).toMatchObject({
        code: 0,
        stdout: "2 messages replayed.\n",
        stderr: expect.stringContaining("brandctl events list-dead"),
      });
      expect((await run("events replay-dead --json")).json()).toEqual({ replayed: 0 });
      expect((await run("events replay-dead")).stdout).toBe("There were no dead letters.\n");
      expect((await run("events list-dead")).stdout).toBe("There are no dead letters: every message was read.\n");
    });
  });
});
