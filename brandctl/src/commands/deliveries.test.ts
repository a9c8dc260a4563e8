import { AppError } from "@brand-records/errors";
import type { Delivery, Receiver, Replay } from "@brand-records/proto/webhook/v1";
import { addDelivery, type NewDelivery } from "../../../services/webhook/test/add-delivery.ts";
import { context, startProduct, type TestBrand } from "../../test/product.ts";
import { failing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

const product = startProduct();
let brand: TestBrand;
let receiver: Receiver;
beforeEach(async () => {
  brand = await product.createBrand();
  const request = { brand_id: brand.id, url: "https://hooks.ulap.example/", label: "Ledger", events: ["payout.paid"] };
  receiver = (await product.receivers.createReceiver(request, context())).receiver as Receiver;
});

/** RCV stands for the receiver. */
const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> =>
  product.run(`deliveries ${line}`.trim().replaceAll("RCV", receiver.id), surroundings);
const NOW = new Date().toISOString();
const add = async (delivery: Partial<NewDelivery> = {}): Promise<{ id: string; event_id: string }> =>
  addDelivery(product.db, receiver, { at: NOW, ...delivery });
const idsOf = async (line: string): Promise<string[]> =>
  (await run(`list ${line} --json`)).json<{ deliveries: Delivery[] }>().deliveries.map(({ id }) => id);
const pauseReceiver = (): Promise<unknown> =>
  product.db.query(
    "update webhook.lanes set open_until = now() + interval '5 min', failed_in_a_row = 10, trips = 1 where receiver_id = $1",
    [receiver.id],
  );

describe("list", () => {
  it("says that the receiver is paused, with --json too", async () => {
    const { id } = await add({ status: 204, test: true });
    expect((await run("list --receiver RCV")).stdout).toMatch(
      new RegExp(`^ID .*\n${id}  payout\\.paid test  delivered  1: HTTP 204   [^\n]*\n$`),
    );
    await pauseReceiver();
    expect((await run("list --receiver RCV")).stdout).toContain("\n\nPending deliveries wait: the receiver is paused until ");
    expect((await run("list --receiver RCV --json")).json()).toMatchObject({ paused_until: expect.any(String), failures_in_a_row: 10 });
  });

  it("reads all pages up to the limit, and notes that there may be more", async () => {
    const made: string[] = [];
    for (let at = 0; at < 5; at += 1) made.unshift((await add({ at: new Date(Date.now() - 60_000 + at).toISOString() })).id);
    product.intercepts.set("webhook.listDeliveries", (request: { page_size: number }, forward) =>
      forward({ ...request, page_size: Math.min(request.page_size, 2) }),
    );
    expect(await idsOf("--receiver RCV")).toEqual(made);
    expect(await idsOf("--receiver RCV --limit 3")).toEqual(made.slice(0, 3));
    expect((await run("list --receiver RCV --limit 3")).stderr).toContain("Limited to 3");
    expect((await run("list --receiver RCV")).stderr).toBe("");
  });

  it("filters by states, type, time, event, record and HTTP status", async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    const failed = await add({ state: "failed", record: "po_2", status: 503 });
    const sending = await add({ state: "sending", type: "campaign.settled" });
    const delivered = await add({ at: yesterday });
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    expect(await idsOf("--receiver RCV --state sending,failed")).toEqual([failed.id, sending.id].toSorted().toReversed());
    expect(await idsOf("--receiver RCV --type campaign.settled")).toEqual([sending.id]);
    expect(await idsOf(`--receiver RCV --since ${hourAgo} --state failed`)).toEqual([failed.id]);
    expect(await idsOf(`--receiver RCV --until ${hourAgo} --state delivered,failed`)).toEqual([delivered.id]);
    expect(await idsOf(`--event ${failed.event_id}`)).toEqual([failed.id]);
    expect(await idsOf(`--record po_2 --brand ${brand.id}`)).toEqual([failed.id]);
    expect(await idsOf("--receiver RCV --status 5xx")).toEqual([failed.id]);
    expect(await idsOf("--receiver RCV --record po_2 --status 4xx")).toEqual([]);
    expect(await idsOf(`--event ${failed.event_id} --receiver RCV --state pending`)).toEqual([]);
  });

  it.each([
    ["--receiver RCV", "The receiver has no deliveries."],
    ["--receiver RCV --state sending", "The receiver has no sending deliveries."],
    ["--receiver RCV --state held --type payout.paid", "The receiver has no held deliveries that match."],
    ["--receiver RCV --record po_3", "The receiver has no deliveries that match."],
    ["--record po_3", "The record has no deliveries."],
    ["--event EVT --state pending,held", "The event has no pending or held deliveries."],
  ])("says of %s that there is none", async (filter, text) => {
    const other = (await product.run(`receivers test ${receiver.id} --json`)).json<{ event_id: string }>();
    await run(`list --event ${other.event_id}`);
    await product.db.query("delete from webhook.deliveries where receiver_id = $1", [receiver.id]);
    const line = `list ${filter.replace("EVT", other.event_id)} --brand ${brand.id}`;
    expect((await run(line)).stdout).toBe(`${text}\n`);
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
    expect(await run(`list ${line}`, { env: {} })).toMatchObject(failing(2, reason));
  });
});

describe("show", () => {
  it("shows the delivery with its attempts, and prints everything kept with --json, responses as base64", async () => {
    const { id } = await add({ state: "failed", status: 503 });
    await product.db.query("update webhook.past_deliveries set response = $2 where id = $1", [id, Buffer.from("over\u001bload\r\n")]);
    const { stdout } = await run(`show ${id}`);
    expect(stdout).toContain("State           failed\n");
    expect(stdout).toContain("Response to attempt 1\n  over\ufffdload\n");
    const shown = (await run(`show ${id} --json`)).json<{ attempts: { response: string }[]; body: string }>();
    expect(shown).toMatchObject({
      delivery: { id },
      attempts: [{ attempt: 1, http_status: 503 }],
      body: expect.stringContaining('"po_1"'),
    });
    expect(Buffer.from(shown.attempts[0]?.response ?? "", "base64").toString()).toBe("over\u001bload\r\n");
  });

  it("says that the receiver is paused, with --json too", async () => {
    const { id } = await add({ state: "pending" });
    await pauseReceiver();
    expect((await run(`show ${id}`)).stdout).toMatch(/State {11}pending: the receiver is paused until [\d:]{8} UTC after 10 failures\n/);
    expect((await run(`show ${id} --json`)).json()).toMatchObject({ paused_until: expect.any(String), failures_in_a_row: 10 });
  });
});

describe("replay", () => {
  const SINCE = "replay --receiver RCV --since 2026-11-01T00:00:00Z";
  const replayOf = async (line: string): Promise<Replay> => (await run(`${line} --json`)).json<{ replay: Replay }>().replay;
  it("of one delivery shows the new one, and that the receiver is paused", async () => {
    const { id } = await add({ state: "failed", status: 503 });
    await pauseReceiver();
    const { stdout, stderr } = await run(`replay ${id}`);
    const [, made] = /^(dlv_\w+) +payout\.paid +pending/m.exec(stdout) ?? [];
    expect(made).not.toBe(id);
    expect(stderr).toMatch(
      /^The receiver is paused until [\d:]{8} UTC after 10 failures\.\nTo see the result: brandctl deliveries show dlv_/,
    );
    // The replay has ended the pause: it may be on its way already.
    const again = (await run(`replay ${made} --json`)).json();
    expect(again).toMatchObject({ delivery: { id: made, state: expect.stringMatching(/^(pending|sending)$/) } });
  });

  it("since a time prints its progress, and the commands that follow it and show the result; --follow starts no other", async () => {
    await add({ state: "failed" });
    const { stdout, stderr } = await run(SINCE);
    expect(stdout).toMatch(/(queued so far|queued again)\.\n$/);
    expect(stderr).toContain(`To see the result: brandctl deliveries list --receiver ${receiver.id}\n`);
    const [, follow = ""] = /^The replay continues. To follow it: brandctl deliveries (.*)$/m.exec(stderr) ?? [];
    expect(await run(follow)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 event from 2026-11-01 00:00 to 20\d\d-\d\d-\d\d \d\d:\d\d UTC queued again\.\n$/),
    });
    expect(await replayOf(`${follow} --brand ${brand.id}`)).toMatchObject({ finished_at: expect.any(String), queued: 1 });
    expect(await product.db.query("select from webhook.replays where receiver_id = $1", [receiver.id])).toHaveLength(1);
  });

  it("with --failed and --until passes both on, names the events so, and with --wait ends when all are queued", async () => {
    await add({ state: "failed" });
    await add({ state: "delivered" });
    expect(await replayOf(`${SINCE} --failed --until 2026-11-02T00:00:00Z --wait`)).toMatchObject({ failed_only: true, queued: 0 });
    expect((await run(`${SINCE} --failed --until 2026-11-02T00:00:00Z --wait`)).stdout).toBe(
      "0 failed events from 2026-11-01 00:00 to 2026-11-02 00:00 UTC queued again.\n",
    );
    expect(await replayOf(`${SINCE} --failed --wait`)).toMatchObject({ queued: 1, finished_at: expect.any(String) });
  });

  it("interrupted while it waits says that the replay continues", async () => {
    const interrupting = new AbortController();
    const unfinished = async (forward: () => Promise<{ replay: Replay }>) => ({
      replay: { ...(await forward()).replay, finished_at: null },
    });
    product.intercepts.set("webhook.replayEvents", (_, forward) => unfinished(forward));
    product.intercepts.set("webhook.getReplay", (_, forward) => {
      interrupting.abort();
      return unfinished(forward);
    });
    expect(await run(`${SINCE} --wait`, { interrupted: interrupting.signal })).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/The replay continues\.\n.*to follow it: brandctl deliveries replay --follow rpl_/),
    });
  });

  it("names the replay in progress, if there is one", async () => {
    const { id } = await replayOf(SINCE);
    product.failNext("webhook.replayEvents", new AppError("request_conflict", "A replay is in progress", { field: "since" }));
    expect(await run(SINCE)).toMatchObject(failing(1, `brandctl deliveries replay --follow ${id} follows the replay in progress`));
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
    expect(await run(`replay ${line}`)).toMatchObject(failing(2, "Name either a delivery"));
  });
});
