import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../program.ts";

/** Receivers by number. */
export interface Behavior {
  readonly hanging: readonly number[];
  readonly uncounted: readonly number[];
}

export type ToReceivers = { readonly begin: Behavior } | { readonly report: true };

export interface FromReceivers {
  /** Requests served, by receiver. */
  readonly arrived: readonly number[];
  /** From the event's created_at to its arrival. Both use the same clock. */
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
    begin: async ({ hanging = [], uncounted = [] } = {}) => void (await call({ begin: { hanging, uncounted } })),
    report: () => call({ report: true }),
  };
}
