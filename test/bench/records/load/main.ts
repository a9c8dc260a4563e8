import { exitWithParent } from "../baseline/serve-variant.ts";
import { LoadGenerator } from "./load-generator.ts";
import type { FromLoad, ToLoad } from "./start-load.ts";

/** The load generator as a process: receives commands and sends results. */
let generator = new LoadGenerator([]);
const send = (message: FromLoad): void => void process.send?.(message);

process.on("message", (message: ToLoad) => {
  if ("keySets" in message) generator = new LoadGenerator(message.keySets);
  else execute(message).then(send, (error: unknown) => send({ failure: error instanceof Error ? error.message : String(error) }));
});
exitWithParent();
send({ ready: {} });

async function execute(message: Exclude<ToLoad, { keySets: unknown }>): Promise<FromLoad> {
  if ("run" in message) return { result: await generator.run(message.run) };
  await generator.prepare(message.prepare);
  return { prepared: {} };
}
