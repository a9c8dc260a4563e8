import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../harness/programs.ts";

/** Numbers of the receivers that differ from the others. */
export interface Behavior {
  /** Do not respond while this behavior lasts. */
  readonly hanging: readonly number[];
  /** Their requests count in `arrived`, but add no latencies. */
  readonly unmeasured: readonly number[];
}

export type ToReceivers = { readonly begin: Behavior } | { readonly count: true } | { readonly report: true };

export interface Counts {
  readonly arrived: number;
  /** Requests with a latency. */
  readonly measured: number;
}

export interface Arrivals {
  /** Requests with a response, by receiver. */
  readonly arrived: readonly number[];
  /** When each event was created, in milliseconds since the epoch. */
  readonly createdAtMs: readonly number[];
  /** Time from each event's created_at to its arrival, in the same order. Both use the same clock. */
  readonly latenciesMs: readonly number[];
}

export interface Receivers {
  readonly program: Program;
  readonly ports: readonly number[];
  /** Resets the counts and sets the behavior. Requests that receivers held back get their response if these no longer hang. */
  begin(behavior?: Partial<Behavior>): Promise<void>;
  count(): Promise<Counts>;
  report(): Promise<Arrivals>;
}

export async function startReceivers(start: (program: ProgramOptions) => Program): Promise<Receivers> {
  const program = start({ name: "receivers", script: join(import.meta.dirname, "receivers-main.js") });
  const { ports } = (await program.ready) as { ports: number[] };
  const call = async <Reply>(message: ToReceivers): Promise<Reply> => {
    const reply = once(program.child, "message");
    program.child.send(message);
    const [report] = (await reply) as [Reply];
    return report;
  };
  return {
    program,
    ports,
    begin: ({ hanging = [], unmeasured = [] } = {}) => call({ begin: { hanging, unmeasured } }),
    count: () => call({ count: true }),
    report: () => call({ report: true }),
  };
}
