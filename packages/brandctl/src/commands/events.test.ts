import type { Event } from "@brand-records/proto/webhook/v1";
import { FakeAccounts } from "../testing/fake-accounts.ts";
import { eventOf, FakeWebhook } from "../testing/fake-webhook.ts";
import { serve, type Served } from "../testing/serve.ts";
import { brandctl, type Outcome } from "../testing/test-terminal.ts";

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
    for (const all of [fake.events, fake.deadLetters, fake.asked]) all.splice(0);
  });

  describe("list", () => {
    it("shows the brand's events in columns, with the record each is of", async () => {
      fake.events.push(
        eventOf({ id: "evt_2", type: "submission.approved", data_json: '{"id":"sub_1"}' }),
        eventOf(),
        eventOf({ id: "evt_0", data_json: "{" }),
        eventOf({ id: "evt_9", brand_id: "brd_other" }),
      );
      expect((await run("events list brd_1")).stdout.split("\n")).toEqual([
        "ID     TYPE                 CREATED (UTC)     TAKEN IN          RECORD",
        "evt_2  submission.approved  2026-11-21 08:30  2026-11-21 08:30  sub_1",
        "evt_1  payout.paid          2026-11-21 08:30  2026-11-21 08:30  po_1",
        "evt_0  payout.paid          2026-11-21 08:30  2026-11-21 08:30  -",
        "",
      ]);
    });

    it("takes the brand as an argument or as an option", async () => {
      fake.events.push(eventOf());
      for (const line of ["list brd_1", "list --brand brd_1"]) {
        expect((await run(`events ${line} --json`)).json()).toEqual({ events: [eventOf()] });
      }
      expect(await run("events list")).toMatchObject({ code: 2, stderr: expect.stringContaining("See brandctl events list --help") });
    });

    it("shows only those of the type that is asked for, and says what to check when there are none", async () => {
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

    it("of a brand there is not are answered with not_found, where accounts can be asked", async () => {
      const accounts = new FakeAccounts();
      accounts.brands.set("brd_1", {
        id: "brd_1",
        name: "Ulap",
        tier: "plus",
        verified: true,
        epoch: 1,
        created_at: "2026-11-21T08:30:00.000Z",
      });
      const other = await serve(accounts.served);
      const asking = (line: string): Promise<Outcome> => run(`events ${line} --accounts-address ${other.address}`);
      try {
        expect(await asking("list brd_zzz")).toMatchObject({
          code: 1,
          stdout: "",
          stderr: "error: There is no brand of this id\nbrandctl brands list shows the brands\n",
        });
        const { code, stdout, stderr } = await asking("list brd_zzz --json");
        expect({ code, stdout, error: JSON.parse(stderr) }).toMatchObject({ code: 1, stdout: "", error: { error: { code: "not_found" } } });
        expect(await asking("list brd_1")).toMatchObject({ code: 0, stdout: "The brand has no events.\n" });
        expect((await asking("list brd_1 --json")).json()).toEqual({ events: [] });
      } finally {
        await other.stop();
      }
      // Accounts away is no reason to doubt the list.
      expect(await asking("list brd_zzz")).toMatchObject({ code: 0, stdout: expect.stringContaining("Is the id right?") });
    });

    it("reads all pages up to the limit, and says that there may be more", async () => {
      fake.events.push(...Array.from({ length: 450 }, (_, at) => eventOf({ id: `evt_${at}` })));
      const ids = async (line: string): Promise<string[]> =>
        (await run(`${line} --json`)).json<{ events: Event[] }>().events.map(({ id }) => id);
      const all = fake.events.map(({ id }) => id);
      expect(await ids("events list brd_1 --limit 410")).toEqual(all.slice(0, 410));
      expect(fake.asked.map(({ page_size, after_id }) => [page_size, after_id])).toEqual([
        [200, null],
        [200, "evt_199"],
        [10, "evt_399"],
      ]);
      expect(await ids("events list brd_1")).toEqual(all.slice(0, 50));
      expect(await ids("events list brd_1 --limit 9999")).toEqual(all);
      expect((await run("events list brd_1")).stderr).toContain("Limited to 50; there may be older ones: see --limit");
      expect((await run("events list brd_1 --limit 9999")).stderr).toBe("");
    });

    it.each(["0", "many"])("refuses --limit %s", async (limit) => {
      expect(await run(`events list brd_1 --limit ${limit}`)).toMatchObject({
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

    it("are shown with the reason, what a key would do to the terminal defused, and what to do next", async () => {
      letters(1);
      const { stdout, stderr } = await run("events dead");
      expect(stdout.split("\n")).toEqual([
        "POSITION          SET ASIDE (UTC)   KEY        BYTES  REASON",
        "brand.events/0@0  2026-11-21 08:30  sub_1\ufffd[2J    600  not JSON",
        "",
      ]);
      expect(stderr).toContain("brandctl events replay-dead");
    });

    it("are limited, and how many others there are is told", async () => {
      letters(300);
      expect((await run("events dead")).stderr).toContain("And 250 more");
      expect((await run("events dead --limit 999 --json")).json()).toEqual({ dead_letters: fake.deadLetters.slice(0, 200), total: 300 });
    });

    it("may take minutes to be taken in again", async () => {
      await run("events replay-dead");
      expect(fake.replayDeadMs).toBeGreaterThan(540_000);
      expect(fake.replayDeadMs).toBeLessThanOrEqual(600_000);
    });

    it("that somebody else replays are left to them, and what to do is told", async () => {
      letters(1);
      fake.deadLettersTaken = true;
      const outcome = await run("events replay-dead");
      const { stderr } = await run("events replay-dead --json");
      fake.deadLettersTaken = false;
      expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("is being replayed already") });
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: "request_conflict", hint: expect.stringContaining("brandctl events dead shows what is left") },
      });
    });

    it("are taken in again", async () => {
      letters(2);
      expect(await run("events replay-dead")).toMatchObject({
        code: 0,
        stdout: "2 messages on the way again.\n",
        stderr: expect.stringContaining("brandctl events dead"),
      });
      expect((await run("events replay-dead --json")).json()).toEqual({ replayed: 0 });
      expect((await run("events replay-dead")).stdout).toBe("Nothing was set aside.\n");
      expect((await run("events dead")).stdout).toBe("Nothing is set aside: every message was taken in.\n");
    });
  });
});
