import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { brandRecords } from "../command-line.ts";
import { accept, DASHBOARD, deliver, newEvent, NEXT_SECRET, refuse, RelayFixture, SECRET, type Relay } from "../relay.ts";

/** One promise: examples/relay posts each event to a team chat once, without private data. */

const fixture = new RelayFixture();

describe("a relay that runs throughout", () => {
  let relay: Relay;
  beforeAll(async () => {
    await fixture.open();
    relay = await fixture.start({ RELAY_EVENTS: "payout.paid, campaign.settled" });
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    fixture.messages.length = 0;
    fixture.respond = accept;
  });

  it("keeps every rule that brand-records receivers prove checks, and acts once on what comes twice", async () => {
    const secretFile = fixture.path("secret-to-prove");
    await writeFile(secretFile, SECRET);
    const given = ["receivers", "prove", "--to", relay.url, "--secret-file", secretFile, "--json"];
    const { stdout } = await brandRecords(given, { env: { BRAND_RECORDS_URL: DASHBOARD } });
    const { rules } = JSON.parse(stdout) as { rules: { id: string; result: string }[] };
    expect(rules.filter(({ result }) => result !== "kept")).toMatchObject(
      ["twice", "at_once", "later_attempt", "webhook_id"].map((id) => ({ id, result: "look" })),
    );
    // The events that it accepted, each once, although some of them came twice.
    const posted = fixture.messages.map((message) => /evt_\w+/.exec(message)?.[0]);
    expect(posted).toHaveLength(18);
    expect(new Set(posted).size).toBe(18);
  });

  it.each<[string, number, () => Promise<Response>]>([
    ["a timestamp 301 s old", 401, () => deliver(relay, newEvent(), { secondsAhead: -302 })],
    ["a timestamp 301 s ahead", 401, () => deliver(relay, newEvent(), { secondsAhead: 301 })],
    ["an event that is not configured", 422, () => deliver(relay, newEvent("submission.rejected"))],
    [
      "such an event under another type's header",
      422,
      () => deliver(relay, newEvent("submission.rejected"), { headers: { "x-service-event": "payout.paid" } }),
    ],
    ["an unknown event type", 422, () => deliver(relay, newEvent("payout.failed"))],
    ["a type that every object has", 422, () => deliver(relay, newEvent("constructor"))],
    ["a script as link", 422, () => deliver(relay, { ...newEvent(), dashboard_url: "javascript:alert(1)" })],
    ["a link with markup", 422, () => deliver(relay, { ...newEvent(), dashboard_url: `${DASHBOARD}/evt_1|*Win*> <https://else.example` })],
    [
      "a link whose path has markup",
      422,
      () => {
        const event = newEvent();
        return deliver(relay, { ...event, dashboard_url: `https://records.example/a|b>/developers/events/${event.id}` });
      },
    ],
    ["another event's link", 422, () => deliver(relay, { ...newEvent(), dashboard_url: `${DASHBOARD}/evt_other` })],
    ["no event id", 422, () => deliver(relay, { ...newEvent(), id: undefined as never, dashboard_url: undefined })],
    ["a record id with markup", 422, () => deliver(relay, { ...newEvent(), data: { id: "po_1` @everyone", campaign_id: "cmp_1" } })],
    ["another resource's id", 422, () => deliver(relay, { ...newEvent(), data: { id: "sub_1", campaign_id: "cmp_1" } })],
    ["no data", 422, () => deliver(relay, { ...newEvent(), data: null as never })],
    ["a body over 64 KiB", 413, () => deliver(relay, { ...newEvent(), more: "x".repeat(65 * 1024) })],
    ["a GET", 405, () => fetch(relay.url)],
  ])("refuses %s, posts nothing, and serves the next delivery", async (_, status, send) => {
    expect((await send()).status).toBe(status);
    expect(fixture.messages).toEqual([]);
    expect((await deliver(relay, newEvent())).status).toBe(204);
    expect(fixture.messages).toHaveLength(1);
  });

  it.each([
    [404, "no_service", 424, "chat webhook does not exist (404 no_service): create a new one and set RELAY_CHAT_URL"],
    [404, '{"message": "Unknown Webhook", "code": 10015}', 424, "chat webhook does not exist (404 10015)"],
    [410, "channel_is_archived", 424, "chat webhook does not exist (410 channel_is_archived)"],
    [403, "invalid_token", 424, "chat webhook is revoked or forbidden (403 invalid_token)"],
    [401, '{"error":{"code":"DirectApiAuthorizationRequired"}}', 424, "(401 DirectApiAuthorizationRequired)"],
    [403, '{"error":{"code":403,"status":"PERMISSION_DENIED"}}', 424, "(403 PERMISSION_DENIED)"],
    [400, "no_text", 424, "the chat refuses the message (400 no_text): check that RELAY_CHAT_KIND fits"],
    [400, "<html>services/T0/B0/chat-token</html>", 424, "the chat refuses the message (400): "],
    [400, "T0kenInText", 424, "the chat refuses the message (400): "],
    [302, "", 424, "chat webhook redirects (302)"],
    [500, "rollup_error", 503, "the chat is unavailable (500 rollup_error)"],
    [429, '{"code": 0}', 503, "the chat is unavailable (429 0)"],
  ])("a chat's %i %s leads to %i, and the event is posted when it comes again", async (chatStatus, body, status, text) => {
    const event = newEvent();
    fixture.respond = refuse(chatStatus, body);
    const refused = await deliver(relay, event);
    expect([refused.status, await refused.text()]).toEqual([status, expect.stringContaining(text)]);
    expect(refused.headers.get("retry-after")).toBe(status === 503 ? "30" : null);
    await eventually(() => {
      const logged = relay
        .output()
        .split("\n")
        .find((line) => line.includes(event.id));
      expect(JSON.parse(logged ?? "")).toMatchObject({ level: status === 424 ? "error" : "warn", status });
    });
    const readiness = await fetch(`${relay.url}readyz`);
    // 503 would be wrong: without traffic the relay would not notice that the refusal is over.
    expect([readiness.status, await readiness.json()]).toEqual([
      200,
      { status: "ready", ...(status === 424 && { degraded: [expect.stringContaining(text)] }) },
    ]);
    fixture.respond = accept;
    expect((await deliver(relay, event)).status).toBe(204);
    expect(await (await fetch(`${relay.url}readyz`)).json()).toEqual({ status: "ready" });
    expect(fixture.messages).toHaveLength(2);
  });

  it("accepts a link below the path of the service's PUBLIC_URL", async () => {
    const paid = newEvent();
    const dashboard_url = `https://records.example:8443/apps/brand_records-2.0/developers/events/${paid.id}`;
    expect((await deliver(relay, { ...paid, dashboard_url })).status).toBe(204);
    expect(fixture.messages).toEqual([expect.stringContaining(`<${dashboard_url}|Open>`)]);
  });

  it("passes on the chat's Retry-After, and names the failure if the chat does not respond", async () => {
    for (const [asked, passed] of [
      ["7", "7"],
      ["0.65", "1"],
      ["9".repeat(25), "86400"],
      ["0x10", "30"],
    ] as const) {
      fixture.respond = refuse(429, "", { "retry-after": asked });
      const limited = await deliver(relay, newEvent());
      expect([limited.status, limited.headers.get("retry-after")]).toEqual([503, passed]);
    }
    fixture.respond = (response) => void response.socket?.destroy();
    const closed = await deliver(relay, newEvent());
    expect([closed.status, await closed.text()]).toEqual([503, expect.stringMatching(/^no response from the chat \(\w+\)$/m)]);
  });

  it("posts an event once, however often it arrives, also concurrently", async () => {
    const paid = newEvent();
    let release = (): void => {};
    fixture.respond = (response) => void (release = () => accept(response));
    const first = deliver(relay, paid);
    await eventually(() => expect(fixture.messages).toHaveLength(1));
    const meanwhile = await deliver(relay, paid, { headers: { "x-service-attempt": "2" } });
    expect([meanwhile.status, await meanwhile.text()]).toEqual([503, "another request is posting this event\n"]);
    expect(Number(meanwhile.headers.get("retry-after"))).toBeGreaterThan(0);
    release();
    expect((await first).status).toBe(204);
    expect((await deliver(relay, paid)).status).toBe(204);
    expect(fixture.messages).toHaveLength(1);
  });
});

describe("a relay", () => {
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  it.each([
    ["slack", (id: string) => ({ text: `*Payout paid* \`po_1\` in \`cmp_1\` <${DASHBOARD}/${id}|Open>`, unfurl_links: false })],
    [
      "discord",
      (id: string) => ({ content: `**Payout paid** \`po_1\` in \`cmp_1\` <${DASHBOARD}/${id}>`, allowed_mentions: { parse: [] } }),
    ],
    ["google", (id: string) => ({ text: `*Payout paid* \`po_1\` in \`cmp_1\` <${DASHBOARD}/${id}|Open>` })],
    [
      "teams",
      (id: string) => ({
        type: "message",
        attachments: [
          {
            contentType: "application/vnd.microsoft.card.adaptive",
            content: expect.objectContaining({
              type: "AdaptiveCard",
              body: [expect.objectContaining({ text: "Payout paid" }), expect.objectContaining({ text: "po_1 in cmp_1" })],
              actions: [{ type: "Action.OpenUrl", title: "Open", url: `${DASHBOARD}/${id}` }],
            }),
          },
        ],
      }),
    ],
  ])("posts a verified event to %s as its name, ids and a link, without private data", async (kind, messageOf) => {
    const relay = await fixture.start({ RELAY_CHAT_KIND: kind });
    const paid = newEvent();
    expect((await deliver(relay, paid)).status).toBe(204);
    expect(fixture.messages.map((message) => JSON.parse(message) as unknown)).toEqual([messageOf(paid.id)]);
    expect(fixture.messages[0]).not.toMatch(/private|987654321|PHP|centavos/);
  });

  it("posts every event type unless RELAY_EVENTS leaves it out, and marks tests", async () => {
    const relay = await fixture.start({ RELAY_EVENTS: "" });
    for (const type of EVENT_TYPE_NAMES) expect([type, (await deliver(relay, newEvent(type))).status]).toEqual([type, 204]);
    expect(fixture.messages).toHaveLength(EVENT_TYPE_NAMES.length);
    await deliver(relay, newEvent("campaign.settled", true));
    expect(fixture.messages.at(-1)).toContain("*[test] Campaign settled* `cmp_1` <");
  });

  it("remembers after a restart what it has posted", async () => {
    const paid = newEvent();
    const before = await fixture.start();
    await deliver(before, paid);
    await fixture.kill(before);
    const after = await fixture.start();
    expect((await deliver(after, paid)).status).toBe(204);
    expect(fixture.messages).toHaveLength(1);
    expect((await deliver(after, newEvent())).status).toBe(204);
  });

  it("reads secret and URL from files at every use: a rotation needs no restart", async () => {
    const [secret, url] = [fixture.path("secret"), fixture.path("url")];
    await writeFile(secret, `${SECRET}\n`);
    await writeFile(url, `${fixture.chatUrl}\n`);
    const relay = await fixture.start({
      RELAY_SECRET: undefined,
      RELAY_CHAT_URL: undefined,
      RELAY_SECRET_FILE: secret,
      RELAY_CHAT_URL_FILE: url,
    });
    const statuses = async (): Promise<number[]> => {
      const both = [await deliver(relay, newEvent()), await deliver(relay, newEvent(), { secret: NEXT_SECRET })];
      return both.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([204, 401]);
    await writeFile(`${secret}.new`, `${SECRET},${NEXT_SECRET}\n`);
    await rename(`${secret}.new`, secret);
    expect(await statuses()).toEqual([204, 204]);
    await writeFile(secret, NEXT_SECRET);
    expect(await statuses()).toEqual([401, 204]);

    await writeFile(secret, "");
    const empty = await deliver(relay, newEvent());
    expect([empty.status, await empty.text()]).toEqual([503, expect.stringContaining("the file of RELAY_SECRET_FILE must be")]);
    await rm(url);
    const readiness = await fetch(`${relay.url}readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([
      503,
      {
        status: "not ready",
        waiting_for: [expect.stringContaining("RELAY_SECRET_FILE must"), "RELAY_CHAT_URL_FILE cannot be read: ENOENT"],
      },
    ]);
    await writeFile(secret, SECRET);
    const unsent = await deliver(relay, newEvent());
    expect([unsent.status, await unsent.text()]).toEqual([503, "RELAY_CHAT_URL_FILE cannot be read: ENOENT\n"]);
    await writeFile(url, fixture.chatUrl);
    expect((await deliver(relay, newEvent())).status).toBe(204);
  });

  it("on SIGTERM is not ready, finishes requests in progress, and logs no secrets", async () => {
    const relay = await fixture.start({ RELAY_SECRET: `${SECRET},${NEXT_SECRET}`, STOP_GRACE_MS: "3000" });
    let release = (): void => {};
    fixture.respond = (response) => void (release = () => accept(response));
    const sent = deliver(relay, newEvent(), { secret: NEXT_SECRET });
    await eventually(() => expect(fixture.messages).toHaveLength(1));
    const ended = once(relay.child, "close");
    relay.child.kill("SIGTERM");
    // Further signals change nothing.
    relay.child.kill("SIGTERM");
    await eventually(async () =>
      expect(await (await fetch(`${relay.url}readyz`)).json()).toEqual({ status: "not ready", waiting_for: ["stopping"] }),
    );
    await eventually(() => expect(fetch(`${relay.url}healthz`)).rejects.toThrow("fetch failed"));
    for (const signal of ["SIGTERM", "SIGINT", "SIGINT"] as const) relay.child.kill(signal);
    release();
    expect((await sent).status).toBe(204);
    expect(await ended).toEqual([0, null]);
    expect(relay.output()).toContain('"message":"stopped"');
    expect(relay.output()).not.toMatch(/whsec_|chat-token|private/);
  });

  it("posts an event to each chat once if relays for several chats share the database", async () => {
    const token = fixture.chatUrl;
    const [here, sameChat, otherPath, otherKind] = await Promise.all([
      fixture.start(),
      // The query has the token in Google Chat and Teams.
      fixture.start({ RELAY_CHAT_URL: `${token}?token=replaced` }),
      fixture.start({ RELAY_CHAT_URL: `${token}-2` }),
      fixture.start({ RELAY_CHAT_KIND: "google" }),
    ]);
    const paid = newEvent();
    const postedAfter = async (relay: Relay): Promise<number> => {
      expect((await deliver(relay, paid)).status).toBe(204);
      return fixture.messages.length;
    };
    for (const [relay, posted] of [
      [here, 1],
      [sameChat, 1],
      [otherPath, 2],
      [otherKind, 3],
      [otherPath, 3],
    ] as const) {
      expect(await postedAfter(relay)).toBe(posted);
    }
    const stored = await Promise.all(["relay.sqlite", "relay.sqlite-wal"].map((name) => readFile(fixture.path(name), "latin1")));
    expect(stored.join("")).toContain(paid.id);
    expect(stored.join("")).not.toMatch(/chat-token|127\.0\.0\.1/);
  });

  it("starts with a database of the earlier layout", async () => {
    const database = new DatabaseSync(fixture.path("relay.sqlite"));
    database.exec("CREATE TABLE events (id TEXT PRIMARY KEY, lease TEXT, expires_at INTEGER NOT NULL) STRICT");
    database.exec("CREATE INDEX events_by_expiry ON events (expires_at)");
    database.close();
    const relay = await fixture.start();
    expect((await fetch(`${relay.url}readyz`)).status).toBe(200);
    expect((await deliver(relay, newEvent())).status).toBe(204);
    expect(fixture.messages).toHaveLength(1);
  });

  it("responds to HEAD as to GET, and refuses a port in use", async () => {
    const relay = await fixture.start();
    for (const path of ["healthz", "readyz"]) expect((await fetch(`${relay.url}${path}`, { method: "HEAD" })).status).toBe(200);
    const { port } = new URL(relay.url);
    const settings = { RELAY_SECRET: SECRET, RELAY_CHAT_URL: fixture.chatUrl, RELAY_CHAT_KIND: "slack" };
    const { child, output } = fixture.spawn({ ...settings, PORT: port });
    expect(await once(child, "close")).toEqual([78, null]);
    expect(output()).toMatch(/^PORT cannot be used: .*in use/);
  });

  it("listens on loopback, port 8790, unless set otherwise", async () => {
    const { output } = fixture.spawn({ PORT: "", RELAY_SECRET: SECRET, RELAY_CHAT_URL: fixture.chatUrl, RELAY_CHAT_KIND: "slack" });
    // Another process may have the port.
    await eventually(() => expect(output()).toMatch(/"host":"127\.0\.0\.1","port":8790|address already in use 127\.0\.0\.1:8790/));
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "invalid settings",
      {
        RELAY_SECRET: "secret",
        RELAY_CHAT_URL: "http://chat.example/token",
        RELAY_EVENTS: "payout.failed",
        RELAY_DATABASE: "/nowhere/relay.sqlite",
        RELAY_KEEP_DAYS: "0",
        PORT: "x",
        STOP_GRACE_MS: "-1",
      },
      ["RELAY_KEEP_DAYS", "RELAY_SECRET", "RELAY_CHAT_URL", "RELAY_CHAT_KIND", "RELAY_EVENTS", "RELAY_DATABASE", "PORT", "STOP_GRACE_MS"],
    ],
    [
      "a secret in two places, a file that does not exist and a port in words",
      { RELAY_SECRET: SECRET, RELAY_SECRET_FILE: "secret", RELAY_CHAT_URL_FILE: "url", RELAY_CHAT_KIND: "teams", PORT: "1e3" },
      ["RELAY_SECRET", "RELAY_CHAT_URL_FILE", "PORT"],
    ],
    [
      "two chat URLs and a database in memory",
      {
        RELAY_SECRET: SECRET,
        RELAY_CHAT_URL: "https://chat.example/token\nhttps://chat.example/token",
        RELAY_CHAT_KIND: "teams",
        RELAY_DATABASE: ":memory:",
      },
      ["RELAY_CHAT_URL", "RELAY_DATABASE"],
    ],
    [
      "an address of another machine",
      { RELAY_SECRET: SECRET, RELAY_CHAT_URL: "https://chat.example/token", RELAY_CHAT_KIND: "teams", HOST: "192.0.2.1", PORT: "0" },
      ["HOST"],
    ],
  ])("refuses to start with %s, and names every problem", async (_, env, names) => {
    const { child, output } = fixture.spawn(env);
    expect(await once(child, "close")).toEqual([78, null]);
    expect(
      output()
        .trim()
        .split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual(names);
    expect(output()).not.toMatch(/token|whsec_[A-Za-z0-9]/);
  });
});
