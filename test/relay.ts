import { spawn, type ChildProcess } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@brand-records/testkit";

/** Runs examples/relay as processes, with a chat, and sends deliveries to it. */

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;
export const SECRET = newSecret();
export const NEXT_SECRET = newSecret();
export const DASHBOARD = "https://records.example/developers/events";

export interface Relay {
  readonly url: string;
  readonly child: ChildProcess;
  /** Returns stdout and stderr. */
  output(): string;
}

export const accept = (response: ServerResponse): void => void response.writeHead(200).end("ok");

/** Responds with a status, as a chat that refuses. */
export const refuse =
  (status: number, body = "", headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, headers).end(body);

/** One chat, one folder, and the relays started with them. */
export class RelayFixture {
  /** The bodies that the chat received, unparsed. */
  readonly messages: string[] = [];
  respond = accept;
  readonly #children: ChildProcess[] = [];
  #chat = createServer();
  #folder = "";

  async open(): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), "chat-relay-"));
    this.messages.length = 0;
    this.respond = accept;
    this.#chat = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        this.messages.push(body);
        this.respond(response);
      });
    });
    await new Promise<void>((resolve) => this.#chat.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    this.#chat.closeAllConnections();
    await new Promise((resolve) => this.#chat.close(resolve));
    await rm(this.#folder, { recursive: true });
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  get chatUrl(): string {
    const { port } = this.#chat.address() as AddressInfo;
    return `http://127.0.0.1:${port}/services/T0/B0/chat-token`;
  }

  /** @param limit a shell command that runs before, such as `ulimit -f 96` */
  spawn(env: Record<string, string>, limit = ""): { child: ChildProcess; output: () => string } {
    const command = [process.execPath, join(import.meta.dirname, "../examples/relay/main.js")];
    const [program = "", ...parameters] = limit === "" ? command : ["bash", "-c", `${limit}; exec "$0" "$1"`, ...command];
    const child = spawn(program, parameters, {
      cwd: this.#folder,
      env: { PATH: process.env["PATH"], PORT: "0", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#children.push(child);
    let written = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (written += text));
    return { child, output: () => written };
  }

  /** @param env undefined omits a setting */
  async start(env: Record<string, string | undefined> = {}, limit?: string): Promise<Relay> {
    const all = { RELAY_SECRET: SECRET, RELAY_CHAT_URL: this.chatUrl, RELAY_CHAT_KIND: "slack", ...env };
    const settings = Object.entries(all).filter((setting): setting is [string, string] => setting[1] !== undefined);
    const { child, output } = this.spawn(Object.fromEntries(settings), limit);
    const port = await eventually(() => {
      const found = /"message":"listening".*"port":(\d+)/.exec(output())?.[1];
      if (found === undefined) throw new Error(`the relay does not listen: ${output()}`);
      return found;
    });
    return { url: `http://127.0.0.1:${port}/`, child, output };
  }

  /** Ends a relay at once, as a crash does. */
  async kill({ child }: Relay): Promise<void> {
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
  }
}

export interface ServiceEvent {
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly [field: string]: unknown;
}

const RECORD_IDS: Record<string, string> = { "payout.paid": "po_1", "campaign.settled": "cmp_1" };
let eventCount = 0;

/** Returns a new event, with private data. */
export function newEvent(type = "payout.paid", test = false): ServiceEvent {
  eventCount += 1;
  const id = `evt_${String(eventCount).padStart(26, "0")}`;
  return {
    id,
    type,
    created_at: "2026-11-21T02:15:09.420Z",
    brand_id: "brd_private",
    test,
    dashboard_url: `${DASHBOARD}/${id}`,
    data: { id: RECORD_IDS[type] ?? "sub_1", campaign_id: "cmp_1", title: "private", amount_centavos: 987_654_321, currency: "PHP" },
  };
}

export interface Sending {
  readonly secret?: string;
  /** Shifts the timestamp. */
  readonly secondsAhead?: number;
  readonly headers?: Record<string, string>;
}

/** Sends an event, signed without a library as the specification requires (6.3). */
export async function deliver({ url }: Relay, event: ServiceEvent, sending: Sending = {}): Promise<Response> {
  const { secret = SECRET, secondsAhead = 0, headers = {} } = sending;
  const body = JSON.stringify(event);
  const timestamp = String(Math.ceil(Date.now() / 1_000) + secondsAhead);
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return fetch(url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "x-service-event": event.type,
      "x-service-timestamp": timestamp,
      "x-service-signature": `sha256=${digest}`,
      "x-service-attempt": "1",
      ...headers,
    },
  });
}
