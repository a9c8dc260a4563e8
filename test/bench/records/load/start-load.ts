import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../../program.ts";
import type { Destination, FromLoad, KeySets, RunRequest, RunResult, ToLoad } from "./messages.ts";

/** One request at a time. Both throw an Error at the first answer that is not the page asked for. */
export interface Load {
  readonly program: Program;
  /** Before every turn; not measured. */
  prepare(destination: Destination): Promise<void>;
  run(request: RunRequest): Promise<RunResult>;
}

export function startLoad(start: (program: ProgramOptions) => Program, keySets: KeySets): Load {
  const program = start({ name: "load", script: join(import.meta.dirname, "main.js") });
  const { child } = program;
  const tell = (message: ToLoad): void => void child.send(message);
  const ask = async (message: ToLoad): Promise<FromLoad> => {
    await program.ready;
    const answer = once(child, "message");
    tell(message);
    const [answered] = (await Promise.race([answer, program.ended])) as [FromLoad];
    if ("failure" in answered) throw new Error(answered.failure);
    return answered;
  };
  tell({ keySets });
  return {
    program,
    async prepare(destination) {
      await ask({ prepare: destination });
    },
    async run(request) {
      const answered = await ask({ run: request });
      if (!("result" in answered)) throw new Error(`unexpected message of the load generator: ${JSON.stringify(answered)}`);
      return answered.result;
    },
  };
}
