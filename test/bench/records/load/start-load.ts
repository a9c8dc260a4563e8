import { once } from "node:events";
import { join } from "node:path";
import type { Program, ProgramOptions } from "../../program.ts";
import type { Destination, FromLoad, KeySets, RunRequest, RunResult, ToLoad } from "./messages.ts";

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
    const [message] = (await Promise.race([reply, program.ended])) as [FromLoad];
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
