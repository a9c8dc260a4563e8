import type { Attempt, Delivery } from "@brand-records/proto/webhook/v1";
import type { Colors } from "../session.ts";
import { printable } from "./printable.ts";
import { shortTime, table, type Column } from "./table.ts";

/** Of what was answered; --json has all that is kept. */
const RESPONSE_CHARACTERS_MAX = 2_000;

export function deliveryColumns(colors: Colors): Column<Delivery>[] {
  return [
    { title: "ID", cell: ({ id }) => id, paint: colors.cyan },
    { title: "STATE", cell: ({ state }) => state, paint: (text, { state }) => paintState(text, state, colors) },
    { title: "ATTEMPTS", cell: ({ attempts }) => String(attempts), align: "right" },
    { title: "TYPE", cell: typeOf },
    { title: "CREATED (UTC)", cell: ({ created_at }) => shortTime(created_at) },
    { title: "DUE", cell: ({ due_at }) => shortTime(due_at) },
    { title: "OVER", cell: ({ finished_at }) => shortTime(finished_at) },
    { title: "EVENT", cell: ({ event_id }) => event_id },
  ];
}

/** A delivery, and each attempt at it, for people to read. */
export function deliveryText(delivery: Delivery, attempts: readonly Attempt[], colors: Colors): string {
  const { id, receiver_id, event_id, state, created_at, due_at, finished_at } = delivery;
  const facts: readonly (readonly [label: string, text: string, paint?: (text: string) => string])[] = [
    ["ID", id, colors.cyan],
    ["State", state, (text) => paintState(text, state, colors)],
    ["Attempts", String(delivery.attempts)],
    ["Event", `${event_id} ${typeOf(delivery)}`],
    ["Receiver", receiver_id],
    ["Created (UTC)", shortTime(created_at)],
    ["Due (UTC)", shortTime(due_at)],
    ["Over (UTC)", shortTime(finished_at)],
  ];
  const width = Math.max(...facts.map(([label]) => label.length));
  return [
    ...facts.map(([label, text, paint = String]) => `${colors.dim(label.padEnd(width))}  ${paint(printable(text))}`),
    "",
    table(attemptColumns(colors), attempts, colors, "No attempt is over yet."),
    ...attempts.filter(({ response }) => response.length > 0).flatMap((attempt) => answerLines(attempt, colors)),
  ].join("\n");
}

function attemptColumns(colors: Colors): Column<Attempt>[] {
  return [
    { title: "ATTEMPT", cell: ({ attempt }) => String(attempt), align: "right" },
    { title: "STARTED (UTC)", cell: ({ started_at }) => `${started_at.slice(0, 10)} ${started_at.slice(11, 19)}` },
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

/** What a stranger's server answered: its lines stay lines, anything that could move the cursor is defused. */
function answerLines({ attempt, response }: Attempt, { dim }: Colors): string[] {
  const text = Buffer.from(response).toString("utf8");
  const shown = text.slice(0, RESPONSE_CHARACTERS_MAX);
  const lines = shown.split(/\r\n|\r|\n/).map((line) => `  ${printable(line.replaceAll("\t", "    "))}`.trimEnd());
  const rest = shown.length < text.length ? [dim("  … --json has the rest")] : [];
  return ["", dim(`Answer to attempt ${attempt}`), ...lines, ...rest];
}

const typeOf = ({ event_type, test }: Delivery): string => `${event_type === "" ? "not kept" : event_type}${test ? " (test)" : ""}`;

function paintState(text: string, state: string, colors: Colors): string {
  if (state === "delivered") return colors.green(text);
  if (state === "failed") return colors.red(text);
  return state === "held" ? colors.yellow(text) : text;
}
