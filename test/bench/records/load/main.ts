import { LoadGenerator } from "./load-generator.ts";
import type { FromLoad, ToLoad } from "./messages.ts";

/** The load generator, in a process of its own: told what to do, it answers with what it measured. */
let generator = new LoadGenerator([]);
const tell = (message: FromLoad): void => void process.send?.(message);

process.on("message", (message: ToLoad) => {
  if ("keySets" in message) generator = new LoadGenerator(message.keySets);
  else obey(message).then(tell, (error: unknown) => tell({ failure: error instanceof Error ? error.message : String(error) }));
});
// By exit() rather than by the signal itself, so that a CPU profile is written.
for (const end of ["SIGTERM", "disconnect"]) process.on(end, () => process.exit());
tell({ ready: {} });

async function obey(message: Exclude<ToLoad, { keySets: unknown }>): Promise<FromLoad> {
  if ("run" in message) return { result: await generator.run(message.run) };
  await generator.prepare(message.prepare);
  return { prepared: {} };
}
