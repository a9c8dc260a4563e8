import type { Attempt, Delivery } from "@brand-records/proto/webhook/v1";
import type { Colors } from "../terminal.ts";
import { printableLines } from "./printable.ts";
import { shortTime, timeWithSeconds } from "./format.ts";
import { factLines, table, type Column, type Fact } from "./table.ts";

/** Characters of a response to show; --json has everything kept. */
const RESPONSE_CHARACTERS_MAX = 2_000;

export function deliveryColumns(colors: Colors): Column<Delivery>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "STATE", cell: ({ state }) => state, paint: (text, { state }) => paintState(text, state, colors) },
    { title: "ATTEMPTS", cell: ({ attempts }) => String(attempts), align: "right" },
    { title: "TYPE", cell: typeOf },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    { title: "DUE", cell: ({ due_at }) => shortTime(due_at) },
    { title: "FINISHED", cell: ({ finished_at }) => shortTime(finished_at) },
    { title: "EVENT", cell: ({ event_id }) => event_id },
  ];
}

/** Lays out a delivery and its attempts for people to read. */
export function deliveryText(delivery: Delivery, attempts: readonly Attempt[], colors: Colors): string {
  const { id, receiver_id, event_id, state, created_at, due_at, finished_at } = delivery;
  const facts: readonly Fact[] = [
    ["ID", id, colors.cyan],
    ["State", state, (text) => paintState(text, state, colors)],
    ["Attempts", String(delivery.attempts)],
    ["Event", `${event_id} ${typeOf(delivery)}`],
    ["Receiver", receiver_id],
    ["Created (UTC)", shortTime(created_at)],
    ["Due (UTC)", timeWithSeconds(due_at)],
    ["Finished (UTC)", shortTime(finished_at)],
  ];
  return [
    ...factLines(facts, colors),
    "",
    table(attemptColumns(colors), attempts, colors, "No attempt has finished yet."),
    ...runsOf(attempts.filter(({ response }) => response.length > 0)).flatMap((run) => responseLines(run, colors)),
  ].join("\n");
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

function attemptColumns(colors: Colors): Column<Attempt>[] {
  return [
    { title: "ATTEMPT", cell: ({ attempt }) => String(attempt), align: "right" },
    { title: "STARTED (UTC)", cell: ({ started_at }) => timeWithSeconds(started_at) },
    { title: "TOOK", cell: ({ duration_ms }) => `${duration_ms.toLocaleString("en")} ms`, align: "right" },
    {
      title: "OUTCOME",
      cell: ({ outcome }) => outcome,
      paint: (text, { outcome }) => (outcome === "accepted" ? colors.green(text) : colors.red(text)),
    },
    { title: "STATUS", cell: ({ http_status }) => String(http_status ?? "-"), align: "right" },
    { title: "ERROR", cell: ({ error }) => error ?? "-" },
  ];
}

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

function typeOf({ event_type, test, sign_with_next }: Delivery): string {
  const type = event_type === "" ? "not kept" : event_type;
  if (!test) return type;
  return `${type} (test${sign_with_next ? ", next secret" : ""})`;
}

function paintState(text: string, state: string, colors: Colors): string {
  if (state === "delivered") return colors.green(text);
  if (state === "failed") return colors.red(text);
  return state === "held" ? colors.yellow(text) : text;
}
