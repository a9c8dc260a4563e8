import { once, setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { BrandEvent, UnknownEvent } from "@brand-records/client";
import { receiveEvents } from "@brand-records/client/express";
import { listenOn, printable, UsageFailure, writeToReader, type Colors } from "@brand-records/command-line";
import { timeoutMs } from "../input/delivery-options.ts";
import type { Session } from "../session.ts";
import { deliveryTarget } from "./delivery-target.ts";
import { postDelivery, type Delivery, type Reply } from "./post-delivery.ts";
import { isAccepted, outcomeOf, replyText } from "./reply-text.ts";

/** Milliseconds for a whole request, as a sender may be slow on purpose. */
const REQUEST_MS = 30_000;
/** They describe a connection, not the delivery; the new request has its own. */
const HOP_BY_HOP = /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|expect)$/i;

export interface ListenOptions {
  readonly port: number;
  readonly host: string;
  readonly secretFile: string;
  readonly forwardTo: string | undefined;
  readonly timeout: string;
}

/** Receives deliveries until it is interrupted, or its output has no reader any more. */
export async function listen(session: Session, options: ListenOptions): Promise<void> {
  const target = options.forwardTo === undefined ? undefined : deliveryTarget(options.forwardTo, "--forward-to");
  const secrets = await session.input.readSecrets(options.secretFile, "--secret-file");
  const { interrupted, stdout, stderr } = session.terminal;
  const ended = new AbortController();
  interrupted.addEventListener("abort", () => ended.abort());
  const forwarding = { timeoutMs: timeoutMs(options), signal: ended.signal };
  // Every request in progress listens to it.
  setMaxListeners(0, ended.signal);

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrival = await verified(request, secrets);
    const isForwarded = arrival.event !== undefined && target !== undefined;
    const reply = isForwarded ? await postDelivery(target, asItCame(request, arrival.body), forwarding) : undefined;
    const status = reply === undefined ? arrival.status : statusOf(reply);
    response.writeHead(status, reply === undefined ? arrival.headers : headersOf(reply)).end(arrival.text);
    const line = session.json ? lineJson(arrival, status, reply) : lineText(arrival, status, reply, session.colorsFor(stdout));
    if (!(await writeToReader(stdout, `${line}\n`, ended.signal))) ended.abort();
  }

  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    // The sender is gone, or the command ends: the service sends the event again.
    respond(request, response).catch(() => response.destroy());
  });
  const { url, stop } = await listenOn(server, options.port, options.host);
  try {
    if (target !== undefined && target.port === new URL(url).port && isThisMachine(target)) {
      throw new UsageFailure("--forward-to is where the command itself listens", "Choose another --port.");
    }
    if (session.json) stderr.write(`${JSON.stringify({ listening: url })}\n`);
    const to = target === undefined ? "" : ` Forwarding to ${printable(target.href)}`;
    session.note(({ bold }) => `Listening on ${bold(url)} until Ctrl-C.${to}`);
    if (!interrupted.aborted) await once(ended.signal, "abort");
  } finally {
    await stop();
  }
}

/** What the client's receiver makes of a request. */
interface Arrival {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Why it is refused. */
  readonly text: string | undefined;
  /** Undefined if it is refused. */
  readonly event: BrandEvent | UnknownEvent | undefined;
  /** The bytes as they came. */
  readonly body: Buffer;
}

/** Has the client's receiver read and verify a request, by the Standard Webhooks signature if the operator chose another word than Service. */
function verified(request: IncomingMessage, secrets: readonly string[]): Promise<Arrival> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let event: Arrival["event"];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    const writeHead = (status: number, headers: Record<string, string>) => ({
      end: (text?: string) => resolve({ status, headers, text, event, body: Buffer.concat(chunks) }),
    });
    void receiveEvents({ secrets }, (verified) => void (event = verified))(request, { writeHead }, reject);
  });
}

/** The delivery with the bytes, and the names and values of the headers, that it came with. */
function asItCame({ rawHeaders }: IncomingMessage, body: Buffer): Delivery {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!HOP_BY_HOP.test(name)) headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return { headers, body };
}

/** As a gateway responds: the service tries again after each of the last two. A response of HTTP has a status from 200 on. */
const statusOf = (reply: Reply): number =>
  reply.kind === "response" && reply.status >= 200 ? reply.status : reply.kind === "slow" ? 504 : 502;

/** When the service is to try again. */
const headersOf = (reply: Reply): Record<string, string> =>
  reply.kind === "response" && reply.retryAfter !== undefined ? { "Retry-After": reply.retryAfter } : {};

const isThisMachine = ({ hostname }: URL): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

function lineJson({ event, text }: Arrival, status: number, reply: Reply | undefined): string {
  const forwarded = reply === undefined ? null : { outcome: outcomeOf(reply), milliseconds: reply.milliseconds };
  const reason = event === undefined ? (text?.trimEnd() ?? null) : null;
  return JSON.stringify({
    received_at: new Date().toISOString(),
    verified: event !== undefined,
    status,
    reason,
    forwarded,
    event: event ?? null,
  });
}

function lineText({ event, text = "" }: Arrival, status: number, reply: Reply | undefined, { dim, bold, red, green }: Colors): string {
  const time = dim(new Date().toISOString().slice(11, 19));
  if (event === undefined) return `${time}  ${red(`refused (${status})`)}  ${text.trimEnd()}`;
  const { type, id, data, test } = event;
  const record = typeof data.id === "string" ? data.id : "-";
  const outcome = reply === undefined ? "verified" : `verified, ${replyText(reply)}`;
  const paint = reply === undefined || isAccepted(reply) ? green : red;
  return [time, bold(printable(type)), printable(id), printable(record), ...(test ? ["test"] : []), paint(outcome)].join("  ");
}
