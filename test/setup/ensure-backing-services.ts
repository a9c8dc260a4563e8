import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Below the repository's root, where npm runs every script: this one runs from source as well as compiled. */
const SCRIPT = join(process.cwd(), "deploy/backing-services/ensure.sh");

/**
 * What ensure.sh found or installed: the NAME=value lines it prints.
 *
 * @param services all of them unless given
 * @throws if something cannot be had; ensure.sh has told on stderr what and how to cure it
 */
export async function ensureBackingServices(...services: readonly ("redis" | "kafka")[]): Promise<ReadonlyMap<string, string>> {
  const script = spawn("bash", [SCRIPT, ...services], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  script.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(script, "close")) as [number | null];
  if (code !== 0) throw new Error("a backing service is missing (see above)");
  const lines = output.split("\n").filter((line) => line.includes("="));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}
