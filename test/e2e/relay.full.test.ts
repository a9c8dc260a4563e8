import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { eventually } from "@brand-records/testkit";
import { accept, deliver, newEvent, RelayFixture } from "../relay.ts";

/** One promise: examples/relay loses no event and posts none twice without need, whatever fails around it. */

const fixture = new RelayFixture();
beforeEach(() => fixture.open());
afterEach(() => fixture.close());

/** Opens the database of the fixture's relays. */
function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(fixture.path("relay.sqlite"));
  database.exec("PRAGMA busy_timeout = 5000");
  return database;
}

it("posts again after a crash between the chat's acceptance and the record, once the lease has ended", async () => {
  const paid = newEvent();
  const crashing = await fixture.start();
  fixture.respond = () => crashing.child.kill("SIGKILL");
  await expect(deliver(crashing, paid)).rejects.toThrow("fetch failed");
  fixture.respond = accept;
  const relay = await fixture.start();
  const early = await deliver(relay, paid);
  expect([early.status, await early.text()]).toEqual([503, "another request is posting this event\n"]);
  expect(Number(early.headers.get("retry-after"))).toBeLessThanOrEqual(15);
  // Makes it look as if 15 seconds had passed.
  openDatabase().exec("UPDATE posts SET expires_at = 0");
  expect((await deliver(relay, paid)).status).toBe(204);
  expect(fixture.messages).toHaveLength(2);
  expect((await deliver(relay, paid)).status).toBe(204);
  expect(fixture.messages).toHaveLength(2);
});

it("posts an event once if several relays share the database, which they create at the same time", async () => {
  const relays = await Promise.all([1, 2, 3].map(() => fixture.start()));
  const events = Array.from({ length: 20 }, () => newEvent());
  const sendAll = () => Promise.all(events.flatMap((event) => relays.map((relay) => deliver(relay, event))));
  const statuses = (await sendAll()).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 204 && status !== 503)).toEqual([]);
  expect((await sendAll()).map(({ status }) => status)).toEqual(statuses.map(() => 204));
  expect(fixture.messages).toHaveLength(events.length);
});

it("forgets events after RELAY_KEEP_DAYS, 35 by default", async () => {
  const relay = await fixture.start();
  const old = newEvent();
  await deliver(relay, old);
  const database = openDatabase();
  const daysLeft = "SELECT (expires_at / 1000.0 - unixepoch()) / 86400 AS days FROM posts WHERE event_id = ?";
  expect(database.prepare(daysLeft).get(old.id)?.["days"]).toBeCloseTo(35, 2);
  database.prepare("UPDATE posts SET expires_at = 0 WHERE event_id = ?").run(old.id);
  const recent = newEvent();
  await deliver(relay, recent);
  expect(database.prepare("SELECT event_id FROM posts").all()).toEqual([{ event_id: recent.id }]);
  await fixture.kill(relay);
  await deliver(await fixture.start({ RELAY_KEEP_DAYS: "90" }), old);
  expect(database.prepare(daysLeft).get(old.id)?.["days"]).toBeCloseTo(90, 2);
});

it("responds 503 and posts nothing while the database is locked", async () => {
  const relay = await fixture.start();
  const database = openDatabase();
  database.exec("BEGIN IMMEDIATE");
  const paid = newEvent();
  const locked = await deliver(relay, paid);
  expect([locked.status, await locked.text()]).toEqual([503, "RELAY_DATABASE cannot be written: database is locked\n"]);
  await eventually(() => expect(relay.output()).toContain('"level":"error"'));
  await eventually(async () => {
    const readiness = await fetch(`${relay.url}readyz`);
    expect([readiness.status, await readiness.text()]).toEqual([503, expect.stringContaining("database is locked")]);
  });
  expect(fixture.messages).toEqual([]);
  database.exec("ROLLBACK");
  expect((await deliver(relay, paid)).status).toBe(204);
  expect((await fetch(`${relay.url}readyz`)).status).toBe(200);
  expect(fixture.messages).toHaveLength(1);
});

it("responds 503 and posts nothing when the disk takes no more, and continues when it does", async () => {
  const limited = await fixture.start({}, "ulimit -f 96");
  const first = newEvent();
  await deliver(limited, first);
  let posted = 1;
  const unsent = await eventually(async () => {
    const event = newEvent();
    const { status } = await deliver(limited, event);
    if (status === 204) posted += 1;
    expect(status).toBe(503);
    return event;
  });
  expect(fixture.messages).toHaveLength(posted);
  await eventually(() => expect(limited.output()).toMatch(/"level":"error".*RELAY_DATABASE cannot be written/));
  await eventually(async () => expect((await fetch(`${limited.url}readyz`)).status).toBe(503));
  await fixture.kill(limited);
  const relay = await fixture.start();
  expect((await deliver(relay, unsent)).status).toBe(204);
  expect((await deliver(relay, first)).status).toBe(204);
  expect(fixture.messages).toHaveLength(posted + 1);
});

it("ends a request whose body comes too slowly or not to the end, and serves the next", async () => {
  const relay = await fixture.start();
  const { port } = new URL(relay.url);
  const head = "POST / HTTP/1.1\r\nHost: relay\r\nContent-Length: 600\r\n\r\n{";
  const slow = connect(Number(port), "127.0.0.1", () => slow.write(head));
  let response = "";
  slow.setEncoding("utf8").on("data", (text: string) => (response += text));
  const broken = connect(Number(port), "127.0.0.1", () => broken.write(head, () => broken.resetAndDestroy()));
  await eventually(() => expect(relay.output()).toContain('"message":"incomplete"'));
  expect((await deliver(relay, newEvent())).status).toBe(204);
  await eventually(() => expect(response).toContain("408 Request Timeout"), { timeoutMs: 25_000 });
  expect((await deliver(relay, newEvent())).status).toBe(204);
});
