import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { processExists } from "@brand-records/lifecycle";
import { embeddedDataDir } from "./data-directory.ts";
import { EmbeddedPostgresError } from "./errors.ts";

const run = promisify(execFile);
const POLL_MS = 20;

/** A custom setting on the server's command line with the id of the process that started it. */
export const STARTER_SETTING = "brand_records.starter";

/** Fast shutdown, immediate shutdown, no shutdown: 18 s altogether, within the 25 s a stopping process has. */
const ENDING = [
  { signal: "SIGINT", waitMs: 10_000 },
  { signal: "SIGQUIT", waitMs: 6_000 },
  { signal: "SIGKILL", waitMs: 2_000 },
] as const;

/** Sends ever stronger signals until the server is gone. */
export async function endPostmaster(
  signal: (name: NodeJS.Signals) => void,
  goneWithin: (milliseconds: number) => Promise<boolean>,
): Promise<void> {
  for (const step of ENDING) {
    signal(step.signal);
    if (await goneWithin(step.waitMs)) return;
  }
  throw new EmbeddedPostgresError("Postgres did not end, even after SIGKILL");
}

/**
 * Stops the server that a killed process left behind with the port and the data. Does nothing if no server runs.
 *
 * @throws EmbeddedPostgresError if the process that started it is alive: the database is in use
 */
export async function stopOrphanedPostgres(dataDir: string): Promise<void> {
  const folder = embeddedDataDir(dataDir);
  const pidFile = join(folder, "postmaster.pid");
  const pid = Number.parseInt(await readFile(pidFile, "utf8").catch(() => ""), 10);
  if (!(pid > 1)) return;
  const postmaster = await readPostmaster(pid, folder);
  if (postmaster === undefined) {
    // Another process has this id now, and Postgres would take it for a server of this directory.
    if (processExists(pid)) await rm(pidFile, { force: true });
    return;
  }
  if (postmaster.parent === postmaster.starter) {
    throw new EmbeddedPostgresError(`The database in ${folder} is in use by process ${postmaster.starter}. Stop that process first.`);
  }
  await endPostmaster(
    (signal) => signalIfThere(pid, signal),
    (milliseconds) => goneWithin(pid, folder, milliseconds),
  );
}

/** Deletes the data in their actual directory; stops an orphaned server first. */
export async function deleteEmbeddedData(dataDir: string): Promise<void> {
  await stopOrphanedPostgres(dataDir);
  await rm(embeddedDataDir(dataDir), { recursive: true, force: true, maxRetries: 20 });
}

interface Postmaster {
  readonly parent: number;
  readonly starter: number;
}

/** Returns the process if it is a server of this directory: another process may have its id now. A zombie has no command line. */
async function readPostmaster(pid: number, dataDir: string): Promise<Postmaster | undefined> {
  const found = await (process.platform === "linux" ? readProc(pid) : readPs(pid)).catch(() => undefined);
  if (found === undefined || !`${found.command} `.includes(`postgres -D ${dataDir} `)) return undefined;
  const starter = new RegExp(`${STARTER_SETTING}=(\\d+)`).exec(found.command)?.[1];
  return { parent: found.parent, starter: Number(starter) };
}

interface RunningProcess {
  readonly parent: number;
  readonly command: string;
}

async function readProc(pid: number): Promise<RunningProcess> {
  const command = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ").trimEnd();
  // "pid (name) state parent …"; the name may hold any character.
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  return { command, parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) };
}

async function readPs(pid: number): Promise<RunningProcess> {
  const { stdout } = await run("ps", ["-ww", "-o", "ppid=,command=", "-p", String(pid)]);
  const [, parent, command] = /^\s*(\d+)\s+(.*?)\s*$/s.exec(stdout) ?? [];
  return { command: command ?? "", parent: Number(parent) };
}

async function goneWithin(pid: number, dataDir: string, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while ((await readPostmaster(pid, dataDir)) !== undefined) {
    if (performance.now() >= deadline) return false;
    await pause(POLL_MS);
  }
  return true;
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
