import { parsedJson, printable } from "@brand-records/command-line";
import type { Colors } from "../terminal.ts";
import type { ReceivedDelivery, Verification } from "./verify-delivery.ts";

const TEXT_CHARACTERS_MAX = 2_000;

/** A delivery that arrived, as it is shown. Its values are part of the JSON output, which scripts read. */
export interface Arrival {
  readonly received_at: string;
  readonly status: number;
  /** Null without a secret to verify with. */
  readonly signature: "fits" | "refused" | null;
  readonly reason: string | null;
  readonly standard_webhooks: "fits" | "does not fit" | null;
  readonly event: string | null;
  readonly attempt: string | null;
  /** Parsed if it is JSON, else the text. */
  readonly body: unknown;
}

export function arrivalOf(
  { headers, body }: ReceivedDelivery,
  verification: Verification | undefined,
  { status, headerWord, nowMs }: { readonly status: number; readonly headerWord: string; readonly nowMs: number },
): Arrival {
  const header = (name: string): string | null => {
    const value = headers[`x-${headerWord}-${name}`.toLowerCase()];
    return typeof value === "string" ? value : null;
  };
  const refusedFor = verification?.refusedFor;
  const text = body.toString("utf8");
  const json = parsedJson(text);
  return {
    received_at: new Date(nowMs).toISOString(),
    status,
    signature: verification === undefined ? null : refusedFor === undefined ? "fits" : "refused",
    reason: refusedFor ?? null,
    standard_webhooks: verification === undefined ? null : verification.standardMatches ? "fits" : "does not fit",
    event: header("event"),
    attempt: header("attempt"),
    body: json === undefined ? text : json,
  };
}

/** Lays out a delivery for people: event, verdict, ids, data. It may come from a stranger, so control characters are replaced. */
export function arrivalText(arrival: Arrival, colors: Colors): string {
  const { received_at, event, attempt, body } = arrival;
  const head = `${colors.dim(received_at.slice(11, 19))}  ${colors.bold(printable(event ?? "no event type"))}  attempt ${printable(attempt ?? "-")}  ${verdict(arrival, colors)}`;
  const { data, ...about } = isObject(body) ? body : { data: body };
  const ids = ["id", "brand_id", "created_at"].flatMap((name) => (name in about ? [printable(String(about[name]))] : []));
  const line = [...ids, ...(about["test"] === true ? [colors.yellow("test")] : [])].join("  ");
  return [head, ...(line === "" ? [] : [`  ${line}`]), ...dataLines(data).map((text) => `  ${text}`), ""].join("\n");
}

function verdict({ signature, reason, standard_webhooks }: Arrival, { green, red, yellow }: Colors): string {
  if (signature === null) return yellow("not verified");
  const standard = standard_webhooks === "fits" ? green("Standard Webhooks matches") : red("Standard Webhooks does not match");
  return `${signature === "fits" ? green("signature matches") : red(`refused: ${reason ?? ""}`)}, ${standard}`;
}

function dataLines(data: unknown): string[] {
  const text = typeof data === "string" ? data : (JSON.stringify(data, null, 2) ?? "");
  return text
    .slice(0, TEXT_CHARACTERS_MAX)
    .split(/\r\n|\r|\n/)
    .map(printable);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
