import type { Output } from "@brand-records/console-contract";
import type { Span } from "@brand-records/console-contract/time-ranges";
import { dateFormat } from "../../parts/formats.ts";

export type ClientCount = Output<"usage.get">["clients"][number];

interface ClientRow {
  readonly id: string;
  /** Undefined for the row that sums up the rest. */
  readonly client: ClientCount | undefined;
  readonly messages: number;
  /** Those of the messages that call no tool. */
  readonly connecting: number;
}

/** Rows that are shown one by one. */
export const CLIENT_ROWS_MAX = 20;

/** The assistants with the most messages first, and one row for the rest. */
export function clientRows(clients: readonly ClientCount[]): ClientRow[] {
  const rows = clients.map((client) => rowOf(`${client.key_id} ${client.name}`, client, [client]));
  if (rows.length <= CLIENT_ROWS_MAX) return rows;
  return [...rows.slice(0, CLIENT_ROWS_MAX - 1), rowOf("rest", undefined, clients.slice(CLIENT_ROWS_MAX - 1))];
}

function rowOf(id: string, client: ClientCount | undefined, counts: readonly ClientCount[]): ClientRow {
  const total = (name: "messages" | "connecting"): number => counts.reduce((sum, count) => sum + count[name], 0);
  return { id, client, messages: total("messages"), connecting: total("connecting") };
}

const DAY = dateFormat({ timeZone: "Asia/Manila", day: "numeric", month: "short" });

/** The whole days in Manila that a range has a part in: "on Nov 22", "from Nov 21 to Nov 22". */
export function daysText({ from }: Span, now: number): string {
  const [first, last] = [DAY.format(from), DAY.format(now)];
  return first === last ? `on ${first}` : `from ${first} to ${last}`;
}
