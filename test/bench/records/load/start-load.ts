import { once } from "node:events";
import { join } from "node:path";
import type { BuildName, Program, ProgramOptions } from "../../harness/programs.ts";

/** Messages between the benchmark and its load generator. */

/** The variants of tracing, with the share of requests whose trace is sampled. */
export const TRACED = { untraced: 0, traced_1: 0.01, traced_100: 1 } as const;

export type TracedName = keyof typeof TRACED;

export type VariantName = "single" | "bare" | "product" | "tool" | "fields" | "sdk" | TracedName | BuildName;

/** Sets of API keys, each with one key per brand, by brand number. */
export type KeySets = readonly (readonly string[])[];

export interface Destination {
  readonly variant: VariantName;
  readonly port: number;
}

export interface RunRequest extends Destination {
  readonly seconds: number;
}

export interface RunResult {
  readonly requests: number;
  /** Time from the first request to the last response. */
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

export type ToLoad = { readonly keySets: KeySets } | { readonly prepare: Destination } | { readonly run: RunRequest };
export type FromLoad =
  { readonly ready: object } | { readonly prepared: object } | { readonly result: RunResult } | { readonly failure: string };

/** Accepts one call at a time. Both methods throw an Error at the first response that is not the requested page. */
export interface Load {
  readonly program: Program;
  /** Must precede every turn; not measured. */
  prepare(destination: Destination): Promise<void>;
  run(request: RunRequest): Promise<RunResult>;
}

export function startLoad(start: (program: ProgramOptions) => Program, keySets: KeySets): Load {
  const program = start({ name: "load", script: join(import.meta.dirname, "main.js") });
  const { child } = program;
  const send = (message: ToLoad): void => void child.send(message);
  const call = async (request: ToLoad): Promise<FromLoad> => {
    await program.ready;
    const reply = once(child, "message");
    send(request);
    const [message] = (await reply) as [FromLoad];
    if ("failure" in message) throw new Error(message.failure);
    return message;
  };
  send({ keySets });
  return {
    program,
    async prepare(destination) {
      await call({ prepare: destination });
    },
    async run(request) {
      const reply = await call({ run: request });
      if (!("result" in reply)) throw new Error(`unexpected message from the load generator: ${JSON.stringify(reply)}`);
      return reply.result;
    },
  };
}
