import { spawn, type ChildProcess } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EVENT_TYPE_NAMES } from "@brand-records/brand-events";
import { eventually } from "@brand-records/testkit";

/** One promise: examples/relay posts each event to a team chat once, without private data. */

const secretOf = (bytes: Buffer): string => `whsec_${bytes.toString("base64")}`;
const SECRET = secretOf(randomBytes(32));
const NEXT_SECRET = secretOf(randomBytes(32));
const DASHBOARD = "https://records.example/developers/events";

interface Chat {
  readonly url: string;
  /** The bodies received, unparsed. */
  readonly messages: string[];
  respond: (response: ServerResponse) => void;
  stop(): Promise<void>;
}

const accept = (response: ServerResponse): void => void response.writeHead(200).end("ok");

async function startChat(): Promise<Chat> {
  const messages: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      messages.push(body);
      chat.respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const chat: Chat = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/chat-token`,
    messages,
    respond: accept,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return chat;
}

interface Relay {
  readonly url: string;
  readonly child: ChildProcess;
  /** Returns stdout and stderr. */
  output(): string;
}

const running: ChildProcess[] = [];

function spawnRelay(env: Record<string, string>): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, ["examples/relay/main.js"], { env: { PATH: process.env["PATH"], ...env } });
  running.push(child);
  let written = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (written += text));
  return { child, output: () => written };
}

async function startRelay(env: Record<string, string> = {}): Promise<Relay> {
  const settings = { RELAY_SECRET: SECRET, RELAY_CHAT_URL: chat.url, RELAY_CHAT_KIND: "slack", PORT: "0" };
  const { child, output } = spawnRelay({ ...settings, ...env });
  const port = await eventually(() => {
    const found = /"message":"listening","port":(\d+)/.exec(output())?.[1];
    if (found === undefined) throw new Error(`the relay does not listen: ${output()}`);
    return found;
  });
  return { url: `http://127.0.0.1:${port}/`, child, output };
}

let chat: Chat;
beforeEach(async () => {
  chat = await startChat();
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "close");
  }
  await chat.stop();
});

let eventCount = 0;
interface ServiceEvent {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

function event(type = "payout.paid", test = false): ServiceEvent {
  eventCount += 1;
  const id = `evt_${String(eventCount).padStart(26, "0")}`;
  return {
    id,
    type,
    created_at: "2026-11-21T02:15:09.420Z",
    brand_id: "brd_private",
    test,
    dashboard_url: `${DASHBOARD}/${id}`,
    data: { resource: "payouts", id: "po_private", campaign_id: "cmp_private", amount_centavos: 987_654_321, currency: "PHP" },
  };
}

interface Sending {
  readonly secret?: string;
  /** Shifts the timestamp. */
  readonly secondsAhead?: number;
  readonly headers?: Record<string, string>;
  /** The signed text. Default: the body. */
  readonly signed?: string;
}

/** Sends an event, signed without a library as the specification requires (6.3). */
async function deliver({ url }: Relay, content: ServiceEvent, { secret = SECRET, secondsAhead = 0, headers = {}, signed }: Sending = {}) {
  const body = JSON.stringify(content);
  const timestamp = String(Math.ceil(Date.now() / 1_000) + secondsAhead);
  return fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-service-event": content.type,
      "x-service-timestamp": timestamp,
      "x-service-signature": `sha256=${createHmac("sha256", secret)
        .update(`${timestamp}.${signed ?? body}`)
        .digest("hex")}`,
      "x-service-attempt": "1",
      ...headers,
    },
  });
}

it.each([
  ["slack", (id: string) => ({ text: `*Payout paid* <${DASHBOARD}/${id}|Open>`, unfurl_links: false })],
  ["discord", (id: string) => ({ content: `**Payout paid** <${DASHBOARD}/${id}>`, allowed_mentions: { parse: [] } })],
  ["google", (id: string) => ({ text: `*Payout paid* <${DASHBOARD}/${id}|Open>` })],
  [
    "teams",
    (id: string) => ({
      type: "message",
      attachments: [
        {
          contentType: "application/vnd.microsoft.card.adaptive",
          content: expect.objectContaining({
            type: "AdaptiveCard",
            body: [expect.objectContaining({ text: "Payout paid" })],
            actions: [{ type: "Action.OpenUrl", title: "Open", url: `${DASHBOARD}/${id}` }],
          }),
        },
      ],
    }),
  ],
])("posts a verified event to %s as its name and a link, without private data", async (kind, messageOf) => {
  const relay = await startRelay({ RELAY_CHAT_KIND: kind });
  const paid = event();
  expect((await deliver(relay, paid)).status).toBe(204);
  expect(chat.messages.map((message) => JSON.parse(message) as unknown)).toEqual([messageOf(paid.id)]);
  expect(chat.messages[0]).not.toMatch(/private|987654321|PHP|centavos/);
});

it.each(EVENT_TYPE_NAMES)("posts %s unless RELAY_EVENTS leaves it out", async (type) => {
  const relay = await startRelay();
  expect((await deliver(relay, event(type))).status).toBe(204);
  expect(chat.messages).toHaveLength(1);
});

it("marks a test event as a test", async () => {
  const relay = await startRelay();
  await deliver(relay, event("campaign.settled", true));
  expect(chat.messages).toEqual([expect.stringContaining("*[test] Campaign settled*")]);
});

it("posts an event once, however often it arrives, also concurrently", async () => {
  const relay = await startRelay();
  const paid = event();
  const release: (() => void)[] = [];
  chat.respond = (response) => void release.push(() => accept(response));
  const together = [deliver(relay, paid), deliver(relay, paid), deliver(relay, paid, { headers: { "x-service-attempt": "2" } })];
  await eventually(() => expect(release).toHaveLength(1));
  release[0]?.();
  expect((await Promise.all(together)).map(({ status }) => status)).toEqual([204, 204, 204]);
  expect((await deliver(relay, paid)).status).toBe(204);
  expect(chat.messages).toHaveLength(1);
});

it.each<[string, number, (relay: Relay) => Promise<Response>]>([
  ["a signature by another secret", 401, (relay) => deliver(relay, event(), { secret: NEXT_SECRET })],
  ["a changed body", 401, (relay) => deliver(relay, event(), { signed: JSON.stringify(event()) })],
  ["half a signature", 401, (relay) => deliver(relay, event(), { headers: { "x-service-signature": "sha256=abc" } })],
  ["a timestamp 301 s old", 401, (relay) => deliver(relay, event(), { secondsAhead: -302 })],
  ["a timestamp 301 s ahead", 401, (relay) => deliver(relay, event(), { secondsAhead: 301 })],
  ["an invalid timestamp", 401, (relay) => deliver(relay, event(), { headers: { "x-service-timestamp": "now" } })],
  ["an event that is not configured", 422, (relay) => deliver(relay, event("submission.rejected"))],
  [
    "such an event under another type's header",
    422,
    (relay) => deliver(relay, event("submission.rejected"), { headers: { "x-service-event": "payout.paid" } }),
  ],
  ["an unknown event type", 422, (relay) => deliver(relay, event("payout.failed"))],
  ["an invalid link", 422, (relay) => deliver(relay, { ...event(), dashboard_url: "javascript:alert(1)" })],
  ["a body over 64 KiB", 413, (relay) => deliver(relay, { ...event(), more: "x".repeat(65 * 1024) })],
  ["a GET", 405, (relay) => fetch(relay.url)],
])("refuses %s, posts nothing, and serves the next delivery", async (_, status, send) => {
  const relay = await startRelay({ RELAY_EVENTS: "payout.paid, campaign.settled" });
  expect((await send(relay)).status).toBe(status);
  expect(chat.messages).toEqual([]);
  expect((await deliver(relay, event())).status).toBe(204);
  expect(chat.messages).toHaveLength(1);
});

it("responds 503 while the chat refuses, with its Retry-After, and posts the event when it is delivered again", async () => {
  const relay = await startRelay();
  const paid = event();
  chat.respond = (response) => void response.writeHead(429, { "retry-after": "7" }).end();
  const limited = await deliver(relay, paid);
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([503, "7"]);
  chat.respond = (response) => void response.writeHead(302, { location: "/elsewhere" }).end();
  expect((await deliver(relay, paid)).status).toBe(503);
  chat.respond = (response) => void response.socket?.destroy();
  expect((await deliver(relay, paid)).status).toBe(503);
  chat.respond = accept;
  chat.messages.length = 0;
  expect((await deliver(relay, paid)).status).toBe(204);
  expect(chat.messages).toHaveLength(1);
});

it("accepts both secrets during a rotation", async () => {
  const relay = await startRelay({ RELAY_SECRET: `${SECRET},${NEXT_SECRET}` });
  expect((await deliver(relay, event())).status).toBe(204);
  expect((await deliver(relay, event(), { secret: NEXT_SECRET })).status).toBe(204);
  expect(chat.messages).toHaveLength(2);
});

it("finishes requests in progress on SIGTERM, and logs no secrets", async () => {
  const relay = await startRelay();
  const release: (() => void)[] = [];
  chat.respond = (response) => void release.push(() => accept(response));
  const sent = deliver(relay, event());
  await eventually(() => expect(release).toHaveLength(1));
  const ended = once(relay.child, "close");
  relay.child.kill("SIGTERM");
  await eventually(() => expect(fetch(`${relay.url}healthz`)).rejects.toThrow("fetch failed"));
  release[0]?.();
  expect((await sent).status).toBe(204);
  expect(await ended).toEqual([0, null]);
  expect(relay.output()).toContain('"message":"stopped"');
  expect(relay.output()).not.toMatch(/whsec_|chat-token|private/);
});

it("refuses to start with invalid settings, and names every one", async () => {
  const { child, output } = spawnRelay({
    RELAY_SECRET: "secret",
    RELAY_CHAT_URL: "http://chat.example/token",
    RELAY_EVENTS: "",
    PORT: "x",
  });
  expect(await once(child, "close")).toEqual([78, null]);
  for (const name of ["RELAY_SECRET", "RELAY_CHAT_URL", "RELAY_CHAT_KIND", "RELAY_EVENTS", "PORT"])
    expect(output()).toContain(`${name} must`);
  expect(output()).not.toMatch(/token/);
});
