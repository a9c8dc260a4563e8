import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** Relative to the repository's root, where npm runs every script, because this file runs both from source and compiled. */
const SCRIPT = join(process.cwd(), "deploy/backing-services/ensure.sh");

/**
 * Runs ensure.sh, and returns the NAME=value lines that it prints for what it found or installed.
 *
 * @param services names that ensure.sh knows. Default: Redis and Kafka
 * @throws if a service is missing; ensure.sh then prints on stderr which one, and the remedy
 */
export async function ensureBackingServices(...services: string[]): Promise<ReadonlyMap<string, string>> {
  const script = spawn("bash", [SCRIPT, ...services], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  script.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(script, "close")) as [number | null];
  if (code !== 0) throw new Error("a backing service is missing (see above)");
  const lines = output.split("\n").filter((line) => line.includes("="));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}
