import type { Attempt, Delivery } from "@brand-records/proto/webhook/v1";
import {
  clockTime,
  type ColorName,
  type Column,
  type Fact,
  factsText,
  printableLines,
  shortTime,
  table,
  timeWithSeconds,
} from "@brand-records/command-line";
import type { Colors } from "../terminal.ts";
import { failedColor, outcomeText, pauseText, type LastAttempt, type Pause } from "./outcome-text.ts";

/** Characters of a response to show; --json has everything kept. */
const RESPONSE_CHARACTERS_MAX = 2_000;

export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: "ID", cell: ({ id }) => id, paint: "cyan" },
  { title: "TYPE", cell: (delivery) => [delivery.event_type, shortTestText(delivery)].join(" ").trimEnd() },
  { title: "STATE", cell: ({ state }) => state, paint: stateColor },
  { title: "LAST ATTEMPT", cell: lastAttemptText, paint: (delivery) => failedColor(lastAttempt(delivery)), cutTo: 12 },
  { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
  { title: "DUE/FINISHED", cell: ({ due_at, finished_at }) => timeWithSeconds(finished_at ?? due_at) },
];

/** Lays out a receiver's deliveries, and below whether the receiver is paused. */
export function deliveriesTable(deliveries: readonly Delivery[], pause: Pause, colors: Colors, none: string): string {
  const text = table(DELIVERY_COLUMNS, deliveries, colors, none);
  const paused = receiverPause(pause);
  return paused === undefined ? text : `${text}\n\n${colors.yellow(`Pending deliveries wait: ${paused}.`)}`;
}

function receiverPause(pause: Pause): string | undefined {
  const text = pauseText(pause);
  return text === undefined ? undefined : `the receiver is ${text}`;
}

/** Lays out a delivery and its attempts for people to read. */
export function deliveryText(delivery: Delivery, attempts: readonly Attempt[], pause: Pause, colors: Colors): string {
  const { id, receiver_id, event_id, state, created_at, due_at, finished_at } = delivery;
  const test = testText(delivery);
  const progress = progressOf(delivery, pause);
  const facts: readonly Fact[] = [
    ["ID", id, "cyan"],
    ["State", progress === undefined ? state : `${state}: ${progress}`, stateColor(delivery)],
    ["Attempts", String(delivery.attempts)],
    ["Event", `${event_id} ${delivery.event_type}${test === undefined ? "" : ` (${test})`}`],
    ["Receiver", receiver_id],
    ["Created (UTC)", timeWithSeconds(created_at)],
    ["Due (UTC)", timeWithSeconds(due_at)],
    ["Finished (UTC)", timeWithSeconds(finished_at)],
  ];
  return [
    factsText(facts, colors),
    "",
    table(ATTEMPT_COLUMNS, attempts, colors, "No attempt has finished yet."),
    ...runsOf(attempts.filter(({ response }) => response.length > 0)).flatMap((run) => responseLines(run, colors)),
  ].join("\n");
}

const lastAttempt = ({ last_outcome, last_http_status }: Delivery): LastAttempt => ({ outcome: last_outcome, status: last_http_status });

/** `3: HTTP 500`: the number of the last finished attempt and its outcome. */
function lastAttemptText(delivery: Delivery): string {
  const finished = delivery.state === "sending" ? delivery.attempts - 1 : delivery.attempts;
  const outcome = outcomeText(lastAttempt(delivery));
  if (finished < 1) return "-";
  return outcome === undefined ? String(finished) : `${finished}: ${outcome}`;
}

/** Beyond its deadline, an attempt's result needs this long to be written. */
const RESULT_MS = 2_000;

/** What a delivery waits for beside its due time, or the attempt in progress. */
function progressOf({ state, attempts, sending_since, deadline_ms }: Delivery, pause: Pause): string | undefined {
  if (state === "pending") return receiverPause(pause);
  if (state === "held") return "the receiver is disabled";
  if (state !== "sending") return undefined;
  if (sending_since == null || deadline_ms == null) return `attempt ${attempts} in progress`;
  const isOverdue = Date.now() > Date.parse(sending_since) + deadline_ms + RESULT_MS;
  if (!isOverdue) return `attempt ${attempts} in progress since ${clockTime(sending_since)} (up to ${deadline_ms / 1_000} s)`;
  return `attempt ${attempts} without a result since ${clockTime(sending_since)}: the process that made it may have ended`;
}

/** Attempts in a row with the same response: the first, and the numbers of the others. */
interface Run {
  readonly first: Attempt;
  readonly others: number[];
}

function runsOf(attempts: readonly Attempt[]): Run[] {
  const runs: Run[] = [];
  for (const attempt of attempts) {
    const run = runs.at(-1);
    if (run !== undefined && Buffer.compare(run.first.response, attempt.response) === 0) run.others.push(attempt.attempt);
    else runs.push({ first: attempt, others: [] });
  }
  return runs;
}

const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: "ATTEMPT", cell: ({ attempt }) => String(attempt), align: "right" },
  { title: "STARTED (UTC)", cell: ({ started_at }) => timeWithSeconds(started_at) },
  { title: "TOOK", cell: ({ duration_ms }) => `${duration_ms.toLocaleString("en")} ms`, align: "right" },
  { title: "OUTCOME", cell: ({ outcome }) => outcome, paint: ({ outcome }) => (outcome === "accepted" ? "green" : "red") },
  { title: "STATUS", cell: ({ http_status }) => String(http_status ?? "-"), align: "right" },
  { title: "ERROR", cell: ({ error }) => error ?? "-", wraps: true },
];

/** The response comes from a stranger's server: its lines stay lines, control characters are replaced. */
function responseLines({ first: { attempt, response }, others }: Run, { dim }: Colors): string[] {
  const text = Buffer.from(response).toString("utf8");
  const shown = text.slice(0, RESPONSE_CHARACTERS_MAX);
  const lines = printableLines(shown).map((line) => `  ${line}`.trimEnd());
  const rest = shown.length < text.length ? [dim("  … --json has the rest")] : [];
  const same = others.length === 1 ? `Attempt ${others[0]}` : `Attempts ${others.join(", ")}`;
  const repeated = others.length === 0 ? [] : ["", dim(`${same}: the same response as attempt ${attempt}`)];
  return ["", dim(`Response to attempt ${attempt}`), ...lines, ...rest, ...repeated];
}

/** How a test is signed decides which secret the receiver needs to accept it. */
const testText = ({ test, sign_with_next }: Delivery): string | undefined => (test ? (sign_with_next ? "test --next" : "test") : undefined);

/** Text as short as a table of 120 columns needs it. */
const shortTestText = ({ test, sign_with_next }: Delivery): string | undefined => (test ? (sign_with_next ? "next" : "test") : undefined);

function stateColor({ state }: Delivery): ColorName | undefined {
  return ({ delivered: "green", failed: "red", held: "yellow" } as const)[state];
}
