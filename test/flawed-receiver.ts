import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

/** Ways in which a receiver breaks the rules of docs/webhooks.md, each as people write it. */
export type Flaw =
  /** Keys the signature with the bytes that the secret encodes. */
  | "decodes the secret"
  | "redirects"
  | "serialises again"
  | "refuses unknown fields"
  | "takes 10 KiB"
  | "knows one secret"
  | "refuses repetitions"
  | "refuses while it works"
  | "compares nothing"
  | "verifies only what is signed"
  | "compares what is there"
  | "compares with a timestamp that is no number"
  | "takes old requests"
  | "takes requests of the future"
  | "tries other timestamps"
  | "trusts the header"
  | "reads the body alone"
  | "takes every type"
  | "lets tests through"
  | "never ends its response"
  | "refuses with 410"
  | "throws"
  | "drops the connection";

const TYPES = new Set(["payout.paid", "campaign.settled"]);
const FIELDS = new Set(["id", "type", "created_at", "brand_id", "test", "dashboard_url", "data"]);

export interface FlawedReceiver {
  readonly url: string;
  /** Paths that were requested. */
  readonly paths: readonly string[];
  stop(): Promise<void>;
}

/** Starts a receiver that keeps all rules but one. @param secrets the active and the next */
export async function startFlawedReceiver(secrets: readonly [string, string], flaw?: Flaw): Promise<FlawedReceiver> {
  const seen = new Set<string>();
  const working = new Set<string>();
  const paths: string[] = [];

  async function respond(headers: IncomingHttpHeaders, body: Buffer): Promise<number> {
    if (body.length > (flaw === "takes 10 KiB" ? 10_240 : 65_536)) return 413;
    const event = JSON.parse(body.toString()) as { id: string; type: string; test: boolean };
    if (flaw === "lets tests through" && event.test) return 204;
    if (!verifies(headers, body, flaw === "knows one secret" ? [secrets[0]] : secrets, flaw)) return 401;
    if (event.type !== headers["x-service-event"] && flaw !== "trusts the header" && flaw !== "reads the body alone") return 401;
    if (!TYPES.has(flaw === "trusts the header" ? String(headers["x-service-event"]) : event.type) && flaw !== "takes every type")
      return 422;
    if (flaw === "refuses unknown fields" && Object.keys(event).some((name) => !FIELDS.has(name))) return 422;
    if (flaw === "refuses repetitions" && seen.has(event.id)) return 409;
    if (flaw === "refuses while it works") {
      if (working.has(event.id)) return 503;
      working.add(event.id);
      await wait(100);
      working.delete(event.id);
    }
    seen.add(event.id);
    return 204;
  }

  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    void buffer(request)
      .then(async (body) => send(response, await respond(request.headers, body)))
      .catch(() => send(response, 500));
  });

  function send(response: ServerResponse, status: number): void {
    if (flaw === "redirects") return void response.writeHead(301, { location: "/elsewhere" }).end();
    if (flaw === "never ends its response") return void response.writeHead(200).write("working");
    if (status === 401 && flaw === "drops the connection") return void response.destroy();
    const refusal = flaw === "refuses with 410" ? 410 : flaw === "throws" ? 500 : status;
    response.writeHead(status === 401 ? refusal : status, { connection: "close" }).end();
  }

  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    paths,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function verifies(headers: IncomingHttpHeaders, body: Buffer, secrets: readonly string[], flaw: Flaw | undefined): boolean {
  const timestamp = String(headers["x-service-timestamp"]);
  const signature = String(headers["x-service-signature"]);
  if (flaw === "compares nothing") return isNear(timestamp, flaw) && isWellFormed(timestamp, signature, flaw);
  if (flaw === "verifies only what is signed" && headers["x-service-signature"] === undefined) return true;
  if (!isWellFormed(timestamp, signature, flaw) || !isNear(timestamp, flaw)) return false;
  const signed = flaw === "serialises again" ? Buffer.from(JSON.stringify(JSON.parse(body.toString()))) : body;
  const given = Buffer.from(signature.slice("sha256=".length), "hex");
  const timestamps = flaw === "tries other timestamps" ? [-60, 0, 60].map((seconds) => String(Number(timestamp) + seconds)) : [timestamp];
  return secrets.some((secret) => timestamps.some((each) => matches(given, digestBy(secret, each, signed, flaw), flaw)));
}

function digestBy(secret: string, timestamp: string, body: Buffer, flaw: Flaw | undefined): Buffer {
  const key = flaw === "decodes the secret" ? Buffer.from(secret.slice("whsec_".length), "base64") : secret;
  return createHmac("sha256", key).update(`${timestamp}.`).update(body).digest();
}

function matches(given: Buffer, digest: Buffer, flaw: Flaw | undefined): boolean {
  if (flaw === "compares what is there") return digest.subarray(0, given.length).equals(given);
  return given.length === digest.length && timingSafeEqual(given, digest);
}

function isWellFormed(timestamp: string, signature: string, flaw: Flaw | undefined): boolean {
  if (flaw === "compares what is there") return /^[0-9]+$/.test(timestamp) && signature.startsWith("sha256=");
  if (flaw === "compares with a timestamp that is no number") return /^sha256=[0-9a-f]{64}$/.test(signature);
  return /^[0-9]{1,12}$/.test(timestamp) && /^sha256=[0-9a-f]{64}$/.test(signature);
}

function isNear(timestamp: string, flaw: Flaw | undefined): boolean {
  const age = Date.now() / 1_000 - Number(timestamp);
  if (flaw === "takes old requests") return age > -300;
  if (flaw === "takes requests of the future") return age < 300;
  // A comparison with NaN is false.
  if (flaw === "compares with a timestamp that is no number") return !(Math.abs(age) > 300);
  return Math.abs(age) <= 300;
}
