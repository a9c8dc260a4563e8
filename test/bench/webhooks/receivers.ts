import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../program.ts";

/** Numbers of the receivers that differ from the others. */
export interface Behavior {
  /** Never respond. */
  readonly hanging: readonly number[];
  /** Their requests count in `arrived`, but add no latencies. */
  readonly unmeasured: readonly number[];
}

export type ToReceivers = { readonly begin: Behavior } | { readonly report: true };

export interface FromReceivers {
  /** Requests with a response, by receiver. */
  readonly arrived: readonly number[];
  /** Time from the event's created_at to its arrival. Both use the same clock. */
  readonly latenciesMs: readonly number[];
}

export interface Receivers {
  readonly program: Program;
  readonly ports: readonly number[];
  /** Resets the counts and sets the behavior. */
  begin(behavior?: Partial<Behavior>): Promise<void>;
  report(): Promise<FromReceivers>;
}

export async function startReceivers(start: (program: ProgramOptions) => Program): Promise<Receivers> {
  const program = start({ name: "receivers", script: join(import.meta.dirname, "receivers-main.js") });
  const { ports } = (await program.ready) as { ports: number[] };
  const call = async (message: ToReceivers): Promise<FromReceivers> => {
    const reply = once(program.child, "message");
    program.child.send(message);
    const [report] = (await Promise.race([reply, program.ended])) as [FromReceivers];
    return report;
  };
  return {
    program,
    ports,
    begin: async ({ hanging = [], unmeasured = [] } = {}) => void (await call({ begin: { hanging, unmeasured } })),
    report: () => call({ report: true }),
  };
}
