import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrandEvent, UnknownEvent } from "@brand-records/client";
import { receiveEvents } from "@brand-records/client/express";
import { printable, type Colors } from "@brand-records/command-line";

const DATA_CHARACTERS_MAX = 2_000;

/** What the client's receiver made of a request, and responded. It is the JSON output, which scripts read. */
export interface Arrival {
  readonly received_at: string;
  readonly verified: boolean;
  readonly status: number;
  /** Why it is refused. */
  readonly reason: string | null;
  /** Null if it is refused. */
  readonly event: BrandEvent | UnknownEvent | null;
}

/** Has the client's receiver verify a request and respond to it. */
export function arrivalOf(secret: Promise<string>, request: IncomingMessage, response: ServerResponse): Promise<Arrival> {
  return new Promise((resolve, reject) => {
    let event: Arrival["event"] = null;
    const writeHead = (status: number, headers: Record<string, string>) => ({
      end: (text?: string) => {
        response.writeHead(status, headers).end(text);
        const reason = event === null ? (text?.trimEnd() ?? null) : null;
        resolve({ received_at: new Date().toISOString(), verified: event !== null, status, reason, event });
      },
    });
    void receiveEvents({ secrets: () => secret }, (verified) => void (event = verified))(request, { writeHead }, reject);
  });
}

/** Lays out an arrival for people. Names and texts of records are strangers': control characters are replaced. */
export function arrivalText({ received_at, status, reason, event }: Arrival, { dim, bold, red, green, yellow }: Colors): string {
  const time = dim(received_at.slice(11, 19));
  if (event === null) return `${time}  ${red(`refused (${status})`)}  ${reason ?? ""}`;
  const { id, type, brand_id, test, data } = event;
  const about = [printable(id), printable(brand_id), ...(test ? [yellow("test")] : [])].join("  ");
  const lines = JSON.stringify(data, null, 2).slice(0, DATA_CHARACTERS_MAX).split("\n");
  return [
    `${time}  ${bold(printable(type))}  ${green("verified")}`,
    ...[about, ...lines.map(printable)].map((line) => `  ${line}`),
    "",
  ].join("\n");
}
