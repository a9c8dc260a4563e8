import { DeliveryError, isKnownEvent, verifyDelivery, type DeliveryProblem } from "@brand-records/client";
import { CommandFailure, UsageFailure } from "@brand-records/command-line";
import { instantProblem, parseInstant } from "@brand-records/resources";
import type { Session } from "../session.ts";
import { headerWord } from "./delivery-target.ts";

const HINTS: Readonly<Record<DeliveryProblem, string>> = {
  missing_header: "Give all headers of the request: a receiver refuses it otherwise.",
  malformed_header: "Give the headers as they arrived, each once.",
  timestamp_outside_window: "If it arrived earlier, give the time: --at. If not, check the clocks.",
  wrong_signature: "Is it the secret of this receiver, and the body byte for byte as it arrived? An editor may have added a line end.",
  invalid_body: "Give the body as it arrived.",
  header_mismatch: "Give headers and body of the same request.",
};

interface VerifyOptions {
  readonly secretFile: string;
  readonly headers: string;
  readonly body: string;
  readonly at: string | undefined;
  readonly headerWord: string;
}

/** @throws CommandFailure if the delivery is not verified */
export async function verifyEvent(session: Session, options: VerifyOptions): Promise<void> {
  const secrets = await session.input.readSecrets(options.secretFile, "--secret-file");
  const headers = parseHeaders(await session.input.readText(options.headers, "--headers"));
  const body = await session.input.read(options.body, "--body");
  const now = options.at === undefined ? Date.now() / 1_000 : parseTime(options.at);
  const event = await verifyDelivery(body, headers, secrets, { now, headerWord: headerWord(options.headerWord) }).catch(
    (error: unknown) => {
      if (!(error instanceof DeliveryError)) throw error;
      throw new CommandFailure(error.code, `Not verified: ${error.message}.`, { cause: error, hint: HINTS[error.code] });
    },
  );
  session.printFacts({ verified: true, known_type: isKnownEvent(event), event }, [
    ["Verified", "yes", "green"],
    ["Event", event.id, "cyan"],
    ["Type", isKnownEvent(event) ? event.type : `${event.type}, which this version does not know`],
    ["Brand", event.brand_id],
    ["Created", event.created_at],
    ["Test", event.test ? "yes" : "no"],
    ["Record", recordId(event.data)],
  ]);
}

/** Reads lines of `Name: value`, with or without a request line before them, or one JSON object. */
function parseHeaders(text: string): Record<string, string[]> {
  const pairs = text.trimStart().startsWith("{") ? jsonPairs(text) : linePairs(text);
  const headers: Record<string, string[]> = {};
  for (const [name, value] of pairs) (headers[name.toLowerCase()] ??= []).push(value);
  if (pairs.length === 0) throw new UsageFailure("--headers has no headers", 'It must have lines of "Name: value", or one JSON object.');
  return headers;
}

function jsonPairs(text: string): [string, string][] {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    return Object.entries(value).flatMap(([name, given]) => [given].flat().map((each): [string, string] => [name, String(each)]));
  } catch (error) {
    throw new UsageFailure(`--headers begins like JSON and is none: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const linePairs = (text: string): [string, string][] =>
  text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });

/** @returns Unix time in seconds. A time without an offset is refused: it would be another on another machine */
function parseTime(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const milliseconds = parseInstant(text);
  if (milliseconds === undefined) throw new UsageFailure(`--at ${instantProblem(text)}`, "Or Unix time in seconds, such as 1795227310.");
  return milliseconds / 1_000;
}

/** An event of a type that this version does not know may have none. */
function recordId(data: object): string {
  return "id" in data && typeof data.id === "string" ? data.id : "-";
}
