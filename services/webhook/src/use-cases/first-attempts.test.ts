import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually, startTcpProxy, type TcpProxy } from "@brand-records/testkit";
import { newEvents as eventsOf } from "../../test/add-events.ts";
import { intercepted } from "../../test/intercepted.ts";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { recordNothing } from "../../test/serve-receivers.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { endExpiredLeases } from "../sending/expired-leases.ts";
import type { Sender } from "../sending/sender.ts";
import type { ClaimedDelivery } from "../storage/claims.ts";
import type { NewEvent } from "../storage/events.ts";
import { disableReceiver } from "./enable-receiver.ts";
import { storeEvents, type FirstAttempts } from "./store-events.ts";

/** First attempts that begin without a claim. */

const TERMS = { leaseSeconds: 30, attemptsMax: 10 };

const sending = useSending();
let server: ReceivingServer;
/** Responses that a test holds back, after `hang`. */
let responses: ServerResponse[];
let stopping: (() => Promise<unknown>)[];
beforeAll(async () => {
  // What every delivery was, from its insert on.
  await sending.db.query(`create table public.states (receiver_id text, state text, attempt int)`);
  await sending.db.query(`create function public.note() returns trigger language plpgsql as $$
    begin insert into public.states values (new.receiver_id, new.state, new.attempt); return null; end $$`);
  await sending.db.query("create trigger note after insert or update on webhook.deliveries for each row execute function public.note()");
});
beforeEach(async () => {
  [responses, stopping] = [[], []];
  server = await startReceivingServer();
  await sending.db.query("truncate public.states");
});
afterEach(async () => {
  for (const stop of stopping) await stop();
  // Ends attempts that hang.
  await server.stop();
});

const hang = (): void => void (server.respond = (response) => void responses.push(response));
const succeed = (): void => {
  server.respond = (response) => void response.writeHead(204).end();
  for (const response of responses.splice(0)) response.writeHead(204).end();
};

/** Events of one record, in order. */
const newEvents = ({ brand }: Pick<MadeReceiver, "brand">, count?: number): NewEvent[] => eventsOf(brand, count);

const idsOf = (events: readonly NewEvent[]): string[] => events.map(({ id }) => id);
const received = (): string[] => server.requests.map(({ body }) => body.id);
const past = ({ id }: MadeReceiver) =>
  sending.db.query<{ state: string; attempts: number }>(
    "select state, attempts from webhook.past_deliveries where receiver_id = $1 order by id",
    [id],
  );
const unfinished = ({ id }: MadeReceiver) =>
  sending.db.query<{ state: string; attempt: number }>("select state, attempt from webhook.deliveries where receiver_id = $1 order by id", [
    id,
  ]);
const statesOf = async ({ id }: MadeReceiver): Promise<string[]> =>
  (await sending.db.query<{ state: string }>("select distinct state from public.states where receiver_id = $1 order by state", [id])).map(
    ({ state }) => state,
  );
const inFlight = async ({ id }: MadeReceiver): Promise<number | undefined> =>
  (await sending.db.query<{ in_flight: number }>("select in_flight from webhook.lanes where receiver_id = $1", [id]))[0]?.in_flight;

/** Waits until every delivery of the receiver is delivered by its first attempt, and its lane has nothing in flight. */
const allDelivered = (receiver: MadeReceiver, count: number): Promise<void> =>
  eventually(async () => {
    const ends = new Set((await past(receiver)).map(({ state, attempts }) => `${state} by attempt ${attempts}`));
    expect({ ends: [...ends], count: (await past(receiver)).length }).toEqual({ ends: ["delivered by attempt 1"], count });
    expect(await inFlight(receiver)).toBe(0);
  });

const isTargets = (text: string): boolean => text.includes(" as room");
const isClaim = (text: string): boolean => text.includes("claimed as materialized");
/** The first statement of a claim that leaves lanes out by the keys of their secrets. */
const isClaimOfOtherKeys = (text: string): boolean => text.includes("secret_key_id = any(");

/** A sender that stores nothing itself: what is leased to it is never sent, as when its process is killed after the commit. */
const killedAfterCommit = (sender: Sender): FirstAttempts => ({
  leaseSeconds: sender.leaseSeconds,
  reservation: () => sender.reservation(),
  release: (attempts) => sender.release(attempts),
  reconcile: (deliveries) => sender.reconcile(deliveries),
  send: (deliveries) => sender.release(deliveries.length),
});

describe("a first attempt", () => {
  it("is sent without a claim, and its delivery never waits", async () => {
    const receiver = await sending.createReceiver(server.url);
    const texts: string[] = [];
    const sender = sending.start({ db: intercepted(sending.db, ({ text }) => texts.push(text)) });
    const events = newEvents(receiver, 5);
    await storeEvents(sending.db, events, sender);
    await allDelivered(receiver, 5);
    expect(received().toSorted()).toEqual(idsOf(events));
    expect(await statesOf(receiver)).toEqual(["sending"]);
    expect(texts.filter(isClaim)).toEqual([]);
  });

  it("leaves what its lane has no room for to claims, which send it", async () => {
    const receiver = await sending.createReceiver(server.url);
    const events = newEvents(receiver, 300);
    await storeEvents(sending.db, events, sending.start());
    await allDelivered(receiver, 300);
    expect(received().toSorted()).toEqual(idsOf(events));
    expect(await statesOf(receiver)).toEqual(["pending", "sending"]);
  });

  it("takes no room that the process does not have", async () => {
    hang();
    const receivers = await Promise.all(Array.from({ length: 3 }, () => sending.createReceiver(server.url)));
    const sender = sending.start({ inFlightMax: 4 });
    // Each has read its targets before the next is asked for room.
    let waiting = 0;
    const db = intercepted(sending.db, async ({ text }) => {
      if (!isTargets(text)) return;
      waiting += 1;
      await eventually(() => expect(waiting).toBe(3));
    });
    await Promise.all(receivers.map((receiver) => storeEvents(db, newEvents(receiver, 4), sender)));
    const rows = await sending.db.query<{ leased: number }>("select count(*) as leased from webhook.deliveries where state = 'sending'");
    expect(rows[0]?.leased).toBeLessThanOrEqual(4);
    succeed();
    for (const receiver of receivers) await allDelivered(receiver, 4);
  });

  it("takes no room that a claim is about to use", async () => {
    hang();
    const [claimed, direct] = [await sending.createReceiver(server.url), await sending.createReceiver(server.url)];
    await sending.deliver([claimed], 8);
    const claiming = Promise.withResolvers<void>();
    const stored = Promise.withResolvers<void>();
    // The claim has locked its lane, and read nothing yet.
    const db = intercepted(sending.db, async ({ text }) => {
      if (!isClaim(text)) return;
      claiming.resolve();
      await stored.promise;
    });
    const sender = sending.start({ db, inFlightMax: 10 });
    await claiming.promise;
    await storeEvents(sending.db, newEvents(direct, 8), sender);
    expect(await inFlight(direct)).toBeLessThanOrEqual(2);
    stored.resolve();
    await eventually(() => expect(responses.length).toBeGreaterThanOrEqual(8));
    succeed();
    await allDelivered(claimed, 8);
    await allDelivered(direct, 8);
  });

  it("is repeated by the lease keeper if its process is killed after the commit", async () => {
    const receiver = await sending.createReceiver(server.url);
    await storeEvents(sending.db, newEvents(receiver), killedAfterCommit(sending.start()));
    expect(await unfinished(receiver)).toEqual([{ state: "sending", attempt: 1 }]);
    await sending.db.query("update webhook.deliveries set lease_until = now() - interval '1 s'");
    expect(await endExpiredLeases(sending.db, TERMS)).toEqual({ pending: 1, failed: 0, removed: 0 });
    await eventually(async () => expect(await past(receiver)).toEqual([{ state: "delivered", attempts: 2 }]));
    await eventually(async () => expect(await inFlight(receiver)).toBe(0));
    expect(received()).toHaveLength(1);
  });
});

describe("a batch that is not stored", () => {
  it("gives back the room that it took", async () => {
    const receiver = await sending.createReceiver(server.url);
    // The first batch takes all the room that it may.
    const sender = sending.start({ inFlightMax: 8 });
    const failing = intercepted(sending.db, ({ name }) => {
      if (name === "first_attempts.add") throw new Error("injected");
    });
    for (let i = 0; i < 10; i += 1) await expect(storeEvents(failing, newEvents(receiver, 4), sender)).rejects.toThrow("injected");
    expect(await inFlight(receiver)).toBe(0);
    await storeEvents(sending.db, newEvents(receiver, 4), sender);
    await allDelivered(receiver, 4);
    expect(await statesOf(receiver)).toEqual(["sending"]);
  });
});

describe("a batch whose commit's response is lost", () => {
  let proxy: TcpProxy;
  let proxied: Database;
  /** Ends the commit that hangs. */
  let release: () => Promise<void>;
  let receiver: MadeReceiver;

  /** The commit of a transaction that adds deliveries to the receiver hangs until `release`. */
  beforeEach(async () => {
    const url = new URL(sending.databaseUrl);
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    url.host = `127.0.0.1:${proxy.port}`;
    proxied = openPool({ url: url.href, applicationName: "intake behind a proxy" });
    receiver = await sending.createReceiver(server.url);
    await sending.db.query("drop trigger if exists hang on webhook.deliveries");
    await sending.db.query(`create or replace function public.hang() returns trigger language plpgsql as $$
      begin if new.receiver_id = '${receiver.id}' then perform pg_advisory_xact_lock(1); end if; return null; end $$`);
    await sending.db.query(`create constraint trigger hang after insert on webhook.deliveries deferrable initially deferred
      for each row execute function public.hang()`);
    const released = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = sending.db.transaction(async (sql) => {
      await sql.query("select pg_advisory_xact_lock(1)");
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    release = async () => {
      released.resolve();
      await holding;
    };
    stopping.push(
      release,
      () => proxy.stop(),
      () => proxied.stop(),
    );
  });

  /** Stores events, and loses the connection while it is committed. */
  async function storeAndLose(sender: Sender, events: readonly NewEvent[]): Promise<void> {
    const storing = storeEvents(proxied, events, sender).catch((error: unknown) => error);
    await eventually(async () =>
      expect(
        await sending.db.query(
          "select from pg_stat_activity where datname = current_database() and query = 'commit' and wait_event = 'advisory'",
        ),
      ).toHaveLength(1),
    );
    await proxy.cut();
    expect(await storing).toMatchObject({ kind: "unavailable" });
  }

  it("is delivered once, by attempt 1", async () => {
    const sender = sending.start();
    const events = newEvents(receiver, 3);
    await storeAndLose(sender, events);
    await release();
    await proxy.heal();
    // The log delivers the batch again.
    expect(await storeEvents(sending.db, events, sender)).toMatchObject({ createdAt: [], repeated: 3, deliveries: 0 });
    await allDelivered(receiver, 3);
    expect(received().toSorted()).toEqual(idsOf(events));
  });

  it("holds up no other receiver", async () => {
    const sender = sending.start();
    await storeAndLose(sender, newEvents(receiver));
    const other = await sending.createReceiver(server.url);
    await sending.deliver([other], 3);
    sender.wake();
    await allDelivered(other, 3);
    await release();
    await allDelivered(receiver, 1);
  });

  it("is made pending while the process has no room", async () => {
    hang();
    const others = [await sending.createReceiver(server.url), await sending.createReceiver(server.url)];
    const sender = sending.start({ inFlightMax: 2 });
    await storeAndLose(sender, newEvents(receiver));
    for (const other of others) await storeEvents(sending.db, newEvents(other), sender);
    await eventually(() => expect(responses.length).toBe(2));
    await release();
    await eventually(async () => expect(await unfinished(receiver)).toEqual([{ state: "pending", attempt: 0 }]));
    succeed();
    await allDelivered(receiver, 1);
    for (const other of others) await allDelivered(other, 1);
  });
});

describe("at max_in_flight 1", () => {
  it("sends first attempts one after another, in order", async () => {
    hang();
    const receiver = await sending.createReceiver(server.url, { maxInFlight: 1 });
    const sender = sending.start();
    const events = newEvents(receiver, 6);
    await storeEvents(sending.db, events.slice(0, 3), sender);
    await eventually(() => expect(responses.length).toBe(1));
    // One is in flight and two wait.
    await storeEvents(sending.db, events.slice(3), sender);
    for (let sent = 1; sent <= 6; sent += 1) {
      await eventually(() => expect(responses.length).toBe(1));
      expect(received()).toEqual(idsOf(events.slice(0, sent)));
      responses.shift()?.writeHead(204).end();
    }
    await allDelivered(receiver, 6);
  });

  it("never overtakes a delivery that waits", async () => {
    const receiver = await sending.createReceiver(server.url, { maxInFlight: 1 });
    const older = await sending.deliver([receiver], 3);
    const newer = newEvents(receiver, 3);
    // The sender claims nothing before the events are stored.
    const claimed = Promise.withResolvers<void>();
    const sender = sending.start({ db: intercepted(sending.db, () => claimed.promise) });
    await storeEvents(sending.db, newer, sender);
    claimed.resolve();
    await allDelivered(receiver, 6);
    expect(received()).toEqual([...older.map(({ id }) => id), ...idsOf(newer)]);
  });

  it("never overtakes what was stored while it waited for the lane", async () => {
    const receiver = await sending.createReceiver(server.url, { maxInFlight: 1 });
    const [older, newer] = [newEvents(receiver), newEvents(receiver)];
    const stored = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    // The transaction that is late, and so its time, begins before that of the other.
    const late = intercepted(sending.db, async ({ name }) => {
      if (name !== "lanes.lock_selecting") return;
      begun.resolve();
      await stored.promise;
    });
    const claims = Promise.withResolvers<void>();
    const sender = sending.start({ db: intercepted(sending.db, () => claims.promise) });
    const storing = storeEvents(late, newer, sender);
    await begun.promise;
    // As a process without room stores it.
    await storeEvents(sending.db, older);
    stored.resolve();
    await storing;
    claims.resolve();
    await allDelivered(receiver, 2);
    expect(received()).toEqual([...idsOf(older), ...idsOf(newer)]);
  });
});

describe("a lane that waits for claims", () => {
  it.each([
    ["is held", "held = true"],
    ["has an open circuit", "open_until = now() + interval '1 hour', failed_in_a_row = 10"],
    ["failed last time", "failed_in_a_row = 1"],
    ["has a delivery that is due", "next_due = now()"],
    ["has no room", "in_flight = max_in_flight"],
  ])("gets no first attempt without a claim if it %s", async (_, change) => {
    const receiver = await sending.createReceiver(server.url);
    await sending.db.query(`update webhook.lanes set ${change} where receiver_id = $1`, [receiver.id]);
    // No sender runs that could claim.
    const first: FirstAttempts = { leaseSeconds: 30, reservation: () => (_, wanted) => wanted, release() {}, send() {}, reconcile() {} };
    await storeEvents(sending.db, newEvents(receiver, 2), first);
    expect(await statesOf(receiver)).toEqual(["pending"]);
  });

  it("gets no first attempt without a claim if its receiver is disabled meanwhile, and none is lost", async () => {
    hang();
    const receiver = await sending.createReceiver(server.url);
    const sender = sending.start();
    await storeEvents(sending.db, newEvents(receiver), sender);
    await eventually(() => expect(responses.length).toBe(1));
    await disableReceiver(sending.db, { brandId: receiver.brand, receiverId: receiver.id }, recordNothing);
    await storeEvents(sending.db, newEvents(receiver), sender);
    succeed();
    await allDelivered(receiver, 1);
    expect(await unfinished(receiver)).toEqual([{ state: "pending", attempt: 0 }]);
  });
});

describe("a process without the key of a secret", () => {
  it("leaves the delivery to a process that has the key, which makes attempt 1", async () => {
    const receiver = await sending.createReceiver(server.url);
    const texts: string[] = [];
    const db = intercepted(sending.db, ({ text }) => texts.push(text));
    const lacking = sending.start({ keys: [{ id: 2, bytes: randomBytes(32) }], db });
    await storeEvents(sending.db, newEvents(receiver), lacking);
    // Claims follow one another: with this one, those that began before the process knew have ended.
    await eventually(() => expect(texts.some(isClaimOfOtherKeys)).toBe(true));
    await eventually(async () => expect(await unfinished(receiver)).toEqual([{ state: "pending", attempt: 0 }]));
    expect(await inFlight(receiver)).toBe(0);
    // It knows by now, and leases nothing more to itself.
    await sending.db.query("truncate public.states");
    await sending.db.query("update webhook.lanes set next_due = 'infinity'");
    await storeEvents(sending.db, newEvents(receiver), lacking);
    expect(await statesOf(receiver)).toEqual(["pending"]);
    await sending.db.query("update webhook.lanes set next_due = '-infinity'");
    sending.start();
    await allDelivered(receiver, 2);
  });
});

describe("a sender that stops", () => {
  it("finishes what intake gave it before", async () => {
    hang();
    const receiver = await sending.createReceiver(server.url);
    const sender = sending.start();
    await storeEvents(sending.db, newEvents(receiver), sender);
    const stopped = sender.stop();
    await eventually(() => expect(responses.length).toBe(1));
    succeed();
    await stopped;
    expect(await past(receiver)).toEqual([{ state: "delivered", attempts: 1 }]);
    expect(await inFlight(receiver)).toBe(0);
  });

  it("takes no room from then on", async () => {
    const receiver = await sending.createReceiver(server.url);
    const sender = sending.start();
    await sender.stop();
    await storeEvents(sending.db, newEvents(receiver), sender);
    expect(await unfinished(receiver)).toEqual([{ state: "pending", attempt: 0 }]);
  });

  it.each<[string, (sender: Sender, deliveries: readonly ClaimedDelivery[]) => void]>([
    ["is committed after it stopped", (sender, deliveries) => sender.send(deliveries, performance.now())],
    ["may be committed after it stopped", (sender, deliveries) => sender.reconcile(deliveries)],
  ])("makes pending what %s", async (_, end) => {
    const receiver = await sending.createReceiver(server.url);
    const sender = sending.start();
    const late = { ...killedAfterCommit(sender), send: (deliveries: readonly ClaimedDelivery[]) => end(sender, deliveries) };
    const db = intercepted(sending.db, ({ name }) => name === "first_attempts.add" && sender.stop());
    await storeEvents(db, newEvents(receiver), late);
    await eventually(async () => expect(await unfinished(receiver)).toEqual([{ state: "pending", attempt: 0 }]));
    expect(await inFlight(receiver)).toBe(0);
    sending.start();
    await allDelivered(receiver, 1);
  });
});

it("goes to the URL that the receiver had when the event was stored, and counts nothing against another that it has since", async () => {
  const after = await startReceivingServer();
  stopping.push(() => after.stop());
  const receiver = await sending.createReceiver(server.url);
  server.respond = (response) => void response.writeHead(410).end();
  const sender = sending.start({ retryDelaysSeconds: [0.05] });
  const changing: FirstAttempts = {
    ...killedAfterCommit(sender),
    send: (deliveries) =>
      void sending.db
        .query("update webhook.receivers set url = $2 where id = $1", [receiver.id, after.url])
        .then(() => sender.send(deliveries, performance.now())),
  };
  const [event] = newEvents(receiver);
  await storeEvents(sending.db, [event!], changing);
  await eventually(async () => expect(await past(receiver)).toEqual([{ state: "delivered", attempts: 2 }]));
  expect([received(), after.requests.map(({ body }) => body.id)]).toEqual([[event!.id], [event!.id]]);
  // A receiver that responds with 410 is disabled.
  const lane = "select held, failures, in_flight from webhook.lanes where receiver_id = $1";
  expect(await sending.db.query(lane, [receiver.id])).toEqual([{ held: false, failures: 0, in_flight: 0 }]);
});

it("gives room back once if sending throws", async () => {
  const receiver = await sending.createReceiver(server.url);
  const calls: string[] = [];
  const first: FirstAttempts = {
    leaseSeconds: 30,
    reservation: () => (_, wanted) => wanted,
    release: () => void calls.push("release"),
    reconcile: () => void calls.push("reconcile"),
    send() {
      calls.push("send");
      throw new Error("injected");
    },
  };
  await expect(storeEvents(sending.db, newEvents(receiver), first)).rejects.toThrow("injected");
  expect(calls).toEqual(["send"]);
});

it("sends a batch once that two processes store at the same time", async () => {
  const receivers = await Promise.all(Array.from({ length: 5 }, () => sending.createReceiver(server.url)));
  const [one, other] = [sending.start(), sending.start()];
  const events = receivers.flatMap((receiver) => newEvents(receiver, 4));
  const stored = await Promise.all([
    storeEvents(sending.db, events, one),
    storeEvents(sending.db, events.toReversed(), other),
    storeEvents(sending.db, events, other),
    storeEvents(sending.db, events, one),
  ]);
  expect(stored.reduce((sum, { deliveries }) => sum + deliveries, 0)).toBe(20);
  for (const receiver of receivers) await allDelivered(receiver, 4);
  expect(received().toSorted()).toEqual(idsOf(events).toSorted());
});
