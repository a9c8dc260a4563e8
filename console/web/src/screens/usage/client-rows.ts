import type { Output } from "@brand-records/console-contract";
import type { Span } from "@brand-records/console-contract/time-ranges";
import { dateFormat } from "../../parts/formats.ts";

export type ClientCount = Output<"usage.get">["clients"][number];

interface ClientRow {
  readonly id: string;
  /** Undefined for the row that sums up the rest. */
  readonly client: ClientCount | undefined;
  readonly messages: number;
}

/** Rows that are shown one by one. */
export const CLIENT_ROWS_MAX = 20;

/** The assistants with the most messages first, and one row for the rest. */
export function clientRows(clients: readonly ClientCount[]): ClientRow[] {
  const rows = clients.map((client) => ({ id: `${client.key_id} ${client.name}`, client, messages: client.messages }));
  if (rows.length <= CLIENT_ROWS_MAX) return rows;
  const rest = rows.slice(CLIENT_ROWS_MAX - 1).reduce((sum, { messages }) => sum + messages, 0);
  return [...rows.slice(0, CLIENT_ROWS_MAX - 1), { id: "rest", client: undefined, messages: rest }];
}

const DAY = dateFormat({ timeZone: "Asia/Manila", day: "numeric", month: "short" });

/** The whole days in Manila that a range has a part in: "on Nov 22", "from Nov 21 to Nov 22". */
export function daysText({ from }: Span, now: number): string {
  const [first, last] = [DAY.format(from), DAY.format(now)];
  return first === last ? `on ${first}` : `from ${first} to ${last}`;
}
