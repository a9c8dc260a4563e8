import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../program.ts";
import type { FromLoad, RunRequest, RunResult, ToLoad } from "./messages.ts";

export interface Load {
  readonly program: Program;
  /** One run at a time. @throws Error at the first answer that is not the page asked for */
  run(request: RunRequest): Promise<RunResult>;
}

/** @param keys of the brands, by number */
export function startLoad(start: (program: ProgramOptions) => Program, keys: readonly string[]): Load {
  const program = start({ name: "load", script: join(import.meta.dirname, "main.js") });
  const { child } = program;
  const tell = (message: ToLoad): void => void child.send(message);
  tell({ keys });
  return {
    program,
    async run(request) {
      await program.ready;
      const answer = once(child, "message");
      tell({ run: request });
      const [message] = (await Promise.race([answer, program.ended])) as [FromLoad];
      if ("failure" in message) throw new Error(message.failure);
      if (!("result" in message)) throw new Error(`unexpected message of the load generator: ${JSON.stringify(message)}`);
      return message.result;
    },
  };
}
