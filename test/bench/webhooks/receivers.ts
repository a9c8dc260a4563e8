import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../program.ts";

/** Numbers of receivers. */
export interface Behaviour {
  readonly hanging: readonly number[];
  readonly uncounted: readonly number[];
}

export type ToReceivers = { readonly begin: Behaviour } | { readonly report: true };

export interface FromReceivers {
  /** Requests answered, by receiver. */
  readonly arrived: readonly number[];
  /** From the event's created_at to its arrival, on the clock that both share. */
  readonly latenciesMs: readonly number[];
}

export interface Receivers {
  readonly program: Program;
  readonly ports: readonly number[];
  /** Forgets what has arrived. */
  begin(behaviour?: Partial<Behaviour>): Promise<void>;
  report(): Promise<FromReceivers>;
}

export async function startReceivers(start: (program: ProgramOptions) => Program): Promise<Receivers> {
  const program = start({ name: "receivers", script: join(import.meta.dirname, "receivers-main.js") });
  const { ports } = (await program.ready) as { ports: number[] };
  const ask = async (message: ToReceivers): Promise<FromReceivers> => {
    const answer = once(program.child, "message");
    program.child.send(message);
    const [answered] = (await Promise.race([answer, program.ended])) as [FromReceivers];
    return answered;
  };
  return {
    program,
    ports,
    begin: async ({ hanging = [], uncounted = [] } = {}) => void (await ask({ begin: { hanging, uncounted } })),
    report: () => ask({ report: true }),
  };
}
