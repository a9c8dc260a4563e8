import { widthOf } from "@brand-records/command-line";
import { FakeAudit } from "../../test/fake-audit.ts";
import { attemptOf, BODY, deliveryOf, FakeWebhook, receiverOf } from "../../test/fake-webhook.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

describe("brandctl deliveries", () => {
  let fake: FakeWebhook;
  let served: Served;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
    brandctl(line.split(" "), { env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address }, ...surroundings });

  beforeAll(async () => {
    fake = new FakeWebhook();
    served = await serve(...fake.served, ...new FakeAudit().served);
  });
  afterAll(() => served.stop());
  beforeEach(() => {
    for (const all of [fake.receivers, fake.deliveries, fake.attempts, fake.replays]) all.splice(0);
    fake.receivers.push(receiverOf());
    fake.replayStep = 1;
    fake.onProgressRead = () => {};
  });

  describe("list", () => {
    it("shows a receiver's deliveries in columns", async () => {
      fake.deliveries.push(
        deliveryOf({ id: "dlv_5", state: "sending", attempts: 3, last_outcome: "refused", last_http_status: 503 }),
        deliveryOf({ id: "dlv_4", state: "sending", attempts: 1 }),
        deliveryOf({ id: "dlv_3", attempts: 2, last_outcome: "timeout", due_at: "2026-11-21T09:00:07.000Z" }),
        deliveryOf({ id: "dlv_2", state: "failed", attempts: 10, finished_at: "2026-11-21T08:40:00.000Z" }),
        deliveryOf({
          state: "delivered",
          attempts: 1,
          test: true,
          finished_at: "2026-11-21T08:31:00.000Z",
          last_outcome: "accepted",
          last_http_status: 204,
        }),
        deliveryOf({ id: "dlv_9", receiver_id: "rcv_other" }),
      );
      expect((await run("deliveries list --brand brd_1 --receiver rcv_1")).stdout.split("\n")).toEqual([
        "ID     TYPE              STATE      LAST ATTEMPT  CREATED (UTC)     DUE/FINISHED",
        "dlv_5  payout.paid       sending    2: HTTP 503   2026-11-21 08:30  -",
        "dlv_4  payout.paid       sending    -             2026-11-21 08:30  -",
        "dlv_3  payout.paid       pending    2: timeout    2026-11-21 08:30  2026-11-21 09:00:07",
        "dlv_2  payout.paid       failed     10            2026-11-21 08:30  2026-11-21 08:40:00",
        "dlv_1  payout.paid test  delivered  1: HTTP 204   2026-11-21 08:30  2026-11-21 08:31:00",
        "",
      ]);
    });

    it("says below that the receiver is paused, with --json too", async () => {
      fake.receivers.splice(0, 1, receiverOf({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 }));
      const line = "deliveries list --brand brd_1 --receiver rcv_1";
      const paused = "\n\nPending deliveries wait: the receiver is paused until 02:03:10 UTC after 10 failures.\n";
      expect((await run(line)).stdout).toBe(`The receiver has no deliveries.${paused}`);
      fake.deliveries.push(deliveryOf());
      expect((await run(line)).stdout).toContain(paused);
      expect((await run(`${line} --json`)).json()).toMatchObject({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 });
    });

    it("fits into 120 columns, and show has the outcome in full", async () => {
      const id = `dlv_${"0".repeat(26)}`;
      const outcome = { attempts: 10, last_outcome: "forbidden_address", last_http_status: null };
      const finished = {
        state: "delivered",
        test: true,
        sign_with_next: true,
        event_type: "submission.approved",
        finished_at: "2026-11-21T08:31:00.000Z",
      };
      fake.deliveries.push(deliveryOf({ id, ...outcome, ...finished }));
      const error = "no TLS, or its certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)";
      fake.attempts.push(attemptOf({ attempt: 10, outcome: "forbidden_address", error, http_status: null }));
      const listed = (await run("deliveries list --brand brd_1 --receiver rcv_1")).stdout;
      expect(listed).toContain("submission.approved next  delivered  10: forbidd…");
      const { stdout } = await run(`deliveries show ${id} --brand brd_1`);
      expect(stdout).toContain("submission.approved (test --next)\n");
      expect(`${listed}${stdout}`.split("\n").filter((line) => widthOf(line) > 120)).toEqual([]);
      expect(stdout).toContain("forbidden_address");
      expect(stdout.replace(/\n {50,}/, " ")).toContain(error);
    });

    it("shows one state, reads all pages up to the limit, and notes that there may be more", async () => {
      fake.deliveries.push(...Array.from({ length: 450 }, (_, at) => deliveryOf({ id: `dlv_${at}`, state: at < 420 ? "held" : "failed" })));
      const list = (line: string) => run(`deliveries list --brand brd_1 --receiver rcv_1${line}`);
      expect((await list(" --state held --limit 1000 --json")).json<{ deliveries: object[] }>().deliveries).toHaveLength(420);
      expect((await list(" --limit 401 --json")).json<{ deliveries: object[] }>().deliveries).toHaveLength(401);
      expect((await list("")).stderr).toContain("Limited to 50");
      expect((await list(" --state sending")).stdout).toBe("The receiver has no sending deliveries.\n");
      expect((await list(" --state lost")).code).toBe(2);
    });

    it("filters by several states, type, time and event", async () => {
      const [early, late] = ["2026-11-20T23:59:59.999Z", "2026-11-21T08:30:00.000Z"];
      fake.deliveries.push(
        deliveryOf({ id: "dlv_4", state: "failed", created_at: late, event_id: "evt_2", record_id: "po_2", last_http_status: 503 }),
        deliveryOf({ id: "dlv_3", state: "sending", created_at: late, event_type: "campaign.settled" }),
        deliveryOf({ id: "dlv_2", state: "delivered", created_at: early }),
        deliveryOf({ id: "dlv_1", state: "pending", created_at: early }),
      );
      const ids = async (line: string): Promise<string[]> =>
        (await run(`deliveries list ${line} --json`)).json<{ deliveries: { id: string }[] }>().deliveries.map(({ id }) => id);
      expect(await ids("--receiver rcv_1 --state sending,failed")).toEqual(["dlv_4", "dlv_3"]);
      expect(await ids("--receiver rcv_1 --type campaign.settled")).toEqual(["dlv_3"]);
      expect(await ids("--receiver rcv_1 --since 2026-11-21T00:00:00Z")).toEqual(["dlv_4", "dlv_3"]);
      expect(await ids("--receiver rcv_1 --until 2026-11-21T00:00:00Z --state pending")).toEqual(["dlv_1"]);
      expect(await ids("--event evt_2")).toEqual(["dlv_4"]);
      expect(await ids("--record po_2 --brand brd_1")).toEqual(["dlv_4"]);
      expect(await ids("--receiver rcv_1 --status 5xx")).toEqual(["dlv_4"]);
      expect(await ids("--receiver rcv_1 --record po_2 --status 4xx")).toEqual([]);
      expect((await run("deliveries list --brand brd_1 --record po_3")).stdout).toBe("The record has no deliveries.\n");
      expect((await run("deliveries list --receiver rcv_1 --record po_3")).stdout).toBe("The receiver has no deliveries that match.\n");
      expect(await ids("--event evt_2 --receiver rcv_1 --state pending")).toEqual([]);
      expect((await run("deliveries list --event evt_2 --state pending,held")).stdout).toBe(
        "The event has no pending or held deliveries.\n",
      );
      expect((await run("deliveries list --receiver rcv_1 --state held --type payout.paid")).stdout).toBe(
        "The receiver has no held deliveries that match.\n",
      );
    });

    it.each([
      ["", "Name a receiver, an event or a record"],
      ["--record po_2", "The brand is missing"],
      ["--brand brd_1 --record po", "--record must be the id of a record"],
      ["--receiver rcv_1 --status 200", "--status"],
      ["--receiver rcv_1 --state failed,lost", '"lost" is not a state'],
      ["--receiver rcv_1 --since monday", "RFC 3339"],
      ["--event rcv_1", "It is the id of a receiver"],
    ])("refuses %j before any call", async (line, reason) => {
      expect(await run(`deliveries list ${line}`.trim(), { env: {} })).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
    });

    it("gives a hint if the brand does not have the receiver", async () => {
      expect((await run("deliveries list --brand brd_2 --receiver rcv_1")).stderr).toContain("brandctl receivers list --brand BRAND");
    });
  });

  describe("show", () => {
    beforeEach(() => {
      fake.deliveries.push(deliveryOf({ state: "delivered", attempts: 2, finished_at: "2026-11-21T08:31:00.000Z" }));
      fake.attempts.push(
        attemptOf({ response: Buffer.from("over\u001b[2Jload\r\n\tlater\u202e") }),
        attemptOf({ attempt: 2, outcome: "accepted", http_status: 204, error: null, response: Buffer.alloc(0) }),
      );
    });

    it("shows each attempt and its response, control characters replaced", async () => {
      const { stdout } = await run("deliveries show dlv_1 --brand brd_1");
      expect(stdout.split("\n").slice(-8)).toEqual([
        "ATTEMPT  STARTED (UTC)            TOOK  OUTCOME   STATUS  ERROR",
        "      1  2026-11-21 08:30:01  1,250 ms  refused      500  status 500",
        "      2  2026-11-21 08:30:01  1,250 ms  accepted     204  -",
        "",
        "Response to attempt 1",
        "  over\ufffd[2Jload",
        "      later\ufffd",
        "",
      ]);
      expect(stdout).toContain("State           delivered");
    });

    it("says that an attempt is in progress, since when, and how long it may take", async () => {
      const stateAt = async (ms: number): Promise<string | undefined> => {
        const sending_since = new Date(Date.now() - ms).toISOString();
        fake.deliveries.splice(0, 1, deliveryOf({ state: "sending", attempts: 3, sending_since, deadline_ms: 15_000 }));
        const { stdout } = await run("deliveries show dlv_1 --brand brd_1");
        return /State {11}(.*)\n/.exec(stdout)?.[1]?.replace(sending_since.slice(11, 19), "02:03:10");
      };
      expect(await stateAt(3_000)).toBe("sending: attempt 3 in progress since 02:03:10 UTC (up to 15 s)");
      expect(await stateAt(25_000)).toBe("sending: attempt 3 without a result since 02:03:10 UTC: the process that made it may have ended");
      fake.deliveries.splice(0, 1, deliveryOf({ state: "sending", attempts: 3 }));
      expect((await run("deliveries show dlv_1 --brand brd_1")).stdout).toContain("State           sending: attempt 3 in progress\n");
    });

    it("says that the receiver is paused if the delivery is pending, and only then", async () => {
      fake.receivers.splice(0, 1, receiverOf({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 }));
      expect((await run("deliveries show dlv_1 --brand brd_1")).stdout).not.toContain("paused");
      fake.deliveries.splice(0, 1, deliveryOf());
      expect((await run("deliveries show dlv_1 --brand brd_1")).stdout).toContain(
        "State           pending: the receiver is paused until 02:03:10 UTC after 10 failures\n",
      );
      const document = (await run("deliveries show dlv_1 --brand brd_1 --json")).json();
      expect(document).toMatchObject({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 });
    });

    it("says why a delivery is held", async () => {
      fake.deliveries.splice(0, 1, deliveryOf({ state: "held" }));
      expect((await run("deliveries show dlv_1 --brand brd_1")).stdout).toContain("State           held: the receiver is disabled\n");
    });

    it("shows when it is due to the second", async () => {
      fake.deliveries.splice(0, 1, deliveryOf({ due_at: "2026-11-21T08:31:07.123Z" }));
      expect((await run("deliveries show dlv_1 --brand brd_1")).stdout).toContain("Due (UTC)       2026-11-21 08:31:07\n");
    });

    it("shows a response that attempts in a row got once", async () => {
      const responses = ["no", "no", "", "no", "busy", "no", "no"];
      fake.attempts.splice(0, 2, ...responses.map((text, at) => attemptOf({ attempt: at + 1, response: Buffer.from(text) })));
      const { stdout } = await run("deliveries show dlv_1 --brand brd_1");
      expect(stdout.slice(stdout.indexOf("Response to")).split("\n")).toEqual([
        "Response to attempt 1",
        "  no",
        "",
        "Attempts 2, 4: the same response as attempt 1",
        "",
        "Response to attempt 5",
        "  busy",
        "",
        "Response to attempt 6",
        "  no",
        "",
        "Attempt 7: the same response as attempt 6",
        "",
      ]);
    });

    it("shows the beginning of a long response", async () => {
      fake.attempts.splice(0, 2, attemptOf({ response: Buffer.from("x".repeat(16_384)) }));
      const { stdout } = await run("deliveries show dlv_1 --brand brd_1");
      expect(stdout.length).toBeLessThan(3_000);
      expect(stdout).toContain("--json has the rest");
    });

    it("prints everything kept with --json, responses as base64", async () => {
      const document = (await run("deliveries show dlv_1 --brand brd_1 --json")).json<{ attempts: { response: string }[] }>();
      expect(document).toMatchObject({ delivery: { id: "dlv_1" }, attempts: [{ attempt: 1 }, { attempt: 2, response: "" }] });
      expect(document).toMatchObject({ body: BODY });
      expect(Buffer.from(document.attempts[0]?.response ?? "", "base64").toString()).toBe("over\u001b[2Jload\r\n\tlater\u202e");
    });

    it("says where to look when there is no such delivery", async () => {
      expect((await run("deliveries show dlv_x --brand brd_1")).stderr).toContain("brandctl deliveries list --receiver RECEIVER");
    });
  });

  describe("replay", () => {
    const SINCE = "deliveries replay --brand brd_1 --receiver rcv_1 --since 2026-11-21T00:00:00Z";

    it("of one delivery shows the new one", async () => {
      fake.deliveries.push(deliveryOf({ state: "failed", attempts: 10, finished_at: "2026-11-21T08:40:00.000Z" }));
      expect((await run("deliveries replay dlv_1 --brand brd_1 --json")).json()).toMatchObject({
        delivery: { id: "dlv_1again", state: "pending", attempts: 0 },
      });
      const { stdout, stderr } = await run("deliveries replay dlv_1 --brand brd_1");
      expect(stdout).toContain("dlv_1again");
      expect(stderr).toBe("To see the result: brandctl deliveries show dlv_1again\n");
    });

    it("since a time prints its progress, and does not wait", async () => {
      const { stdout, stderr } = await run(SINCE);
      expect(stdout).toBe("0 of 3 events from 2026-11-21 00:00 to 2026-11-21 08:40 UTC queued so far.\n");
      expect(stderr).toContain("The replay continues. To follow it: brandctl deliveries replay --follow rpl_0\n");
      expect(stderr).toContain("To see the result: brandctl deliveries list --receiver rcv_1\n");
    });

    it.each(["while it runs", "after it has finished"])("the command that it prints waits for it %s, and starts no other", async (when) => {
      const { stderr } = await run(SINCE);
      const printed = /To follow it: brandctl (.*)\n/.exec(stderr)?.[1] ?? "";
      if (when !== "while it runs") await run(`${SINCE} --wait`);
      expect(await run(printed)).toMatchObject({
        code: 0,
        stdout: "3 events from 2026-11-21 00:00 to 2026-11-21 08:40 UTC queued again.\n",
      });
      expect((await run(`${printed} --brand brd_1 --json`)).json()).toMatchObject({
        replay: { id: "rpl_0", finished_at: expect.any(String) },
      });
      expect(fake.replays).toHaveLength(1);
    });

    it("with --failed and --until passes both on, and names the events so", async () => {
      const { stdout } = await run(`${SINCE} --failed --until 2026-11-21T06:00:00Z`);
      expect(stdout).toBe("0 of 3 failed events from 2026-11-21 00:00 to 2026-11-21 06:00 UTC queued so far.\n");
      expect(fake.replays).toMatchObject([{ failed_only: true, until: "2026-11-21T06:00:00Z" }]);
    });

    it.each(["deliveries replay dlv_1 --brand brd_1", SINCE])("%s says that the receiver is paused", async (line) => {
      fake.deliveries.push(deliveryOf());
      fake.receivers.splice(0, 1, receiverOf({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 }));
      expect((await run(line)).stderr).toContain("The receiver is paused until 02:03:10 UTC after 10 failures.\n");
      fake.receivers.splice(0, 1, receiverOf());
      expect((await run(line)).stderr).not.toContain("paused");
    });

    it("with --wait ends when all are queued", async () => {
      expect(await run(`${SINCE} --wait`)).toMatchObject({
        code: 0,
        stdout: "3 events from 2026-11-21 00:00 to 2026-11-21 08:40 UTC queued again.\n",
      });
      fake.replayStep = 3;
      expect((await run(`${SINCE} --wait --json`)).json()).toMatchObject({
        replay: { id: "rpl_1", queued: 3, finished_at: expect.any(String) },
      });
    });

    it("interrupted while it waits says that the replay continues", async () => {
      fake.replayStep = 0;
      const interrupting = new AbortController();
      fake.onProgressRead = () => interrupting.abort();
      expect(
        await run(`${SINCE} --wait`, {
          env: { WEBHOOK_ADDRESS: served.address, ACCOUNTS_ADDRESS: served.address },
          interrupted: interrupting.signal,
        }),
      ).toMatchObject({
        code: 130,
        stderr: expect.stringMatching(/The replay continues\.\n.*to follow it: brandctl deliveries replay --follow rpl_0\n/),
      });
    });

    it("gives a hint while another is in progress", async () => {
      await run(SINCE);
      expect(await run(SINCE.replace("-21T", "-20T"))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("brandctl deliveries replay --follow rpl_0 follows the replay in progress"),
      });
    });

    it("refuses a --since that is not a time before any call", async () => {
      const { code, stdout, stderr } = await run("deliveries replay --receiver rcv_1 --since foo", { env: {} });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("'foo' is invalid. It must be an RFC 3339 time with an offset");
    });

    it.each([
      "--brand brd_1",
      "dlv_1 --brand brd_1 --since 2026-11-21T00:00:00Z",
      "dlv_1 --brand brd_1 --wait",
      "dlv_1 --brand brd_1 --failed",
      "--brand brd_1 --receiver rcv_1",
      "--brand brd_1 --since 2026-11-21T00:00:00Z",
      "dlv_1 --follow rpl_0",
      "--follow rpl_0 --wait",
      "--receiver rcv_1 --since 2026-11-21T00:00:00Z --follow rpl_0",
    ])("%s is refused: it needs one of the three", async (line) => {
      expect(await run(`deliveries replay ${line}`)).toMatchObject({ code: 2, stderr: expect.stringContaining("Name either a delivery") });
    });
  });
});
