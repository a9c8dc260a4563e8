import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** What a person has in the environment: nothing of these tests, and no Node but the machine's own. */
const INHERITED = /^(?:HOME|USER|LANG|LC_\w+|TMPDIR|CI|JAVA_HOME|\w+_proxy|npm_config_\w+)$/i;

/** A running command that goes on until it is interrupted. */
export interface RunningCommand {
  output(): string;
  /** Ctrl-C: its whole process group gets the signal. @throws if it ends with anything but 0, 130 or that signal */
  interrupt(): Promise<void>;
}

/** What git keeps of this repository, or would, in a folder of its own: nothing is built, and what it makes stays there. */
export class CleanCopy {
  readonly folder: string;
  readonly env: Record<string, string> = {};
  readonly #running: ChildProcess[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    const path = (process.env["PATH"] ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
    for (const [name, value] of Object.entries(process.env)) if (INHERITED.test(name) && value !== undefined) this.env[name] = value;
    this.env["PATH"] = path.join(delimiter);
  }

  static async make(): Promise<CleanCopy> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "clean-copy-")));
    // Postgres does not run as root: as another user it must be able to enter.
    await chmod(folder, 0o755);
    const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
    for (const file of stdout.split("\0").filter(existsSync)) await cp(file, join(folder, file));
    return new CleanCopy(folder);
  }

  /** Returns stdout. @throws with the output, if the exit code is not 0 */
  async run(command: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...this.env, ...env }, maxBuffer: OUTPUT_BYTES_MAX };
    const { stdout } = await run("bash", ["--norc", "-euc", command], options);
    return stdout;
  }

  /** Goes on until it is interrupted, or the copy is removed. */
  start(command: string): RunningCommand {
    const child = spawn("bash", ["--norc", "-euc", command], {
      cwd: this.folder,
      env: this.env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    return { output: () => output, interrupt: () => interrupt(child) };
  }

  /** Forgets what was compiled. */
  async unbuild(): Promise<void> {
    const found = await this.run("find . -name node_modules -prune -o -name dist -type d -print");
    for (const folder of found.split("\n").filter(Boolean)) await rm(join(this.folder, folder), { recursive: true });
  }

  async remove(): Promise<void> {
    for (const child of this.#running) await interrupt(child);
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function interrupt(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  process.kill(-child.pid, "SIGINT");
  await closed;
  // The shell dies of the signal, whatever its command returns.
  if (![0, 130, "SIGINT"].includes(child.signalCode ?? child.exitCode ?? "")) throw new Error(`ended with ${child.exitCode} on Ctrl-C`);
}
