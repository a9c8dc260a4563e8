import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isAlive } from "@brand-records/lifecycle";
import { CommandFailure } from "../failure.ts";

/** What `npm start` writes down about the processes it runs, as far as brandctl reads it. */
export interface RunFile {
  readonly path: string;
  /** The launcher was killed before it could remove the file: nothing in it holds any more. */
  readonly ended: boolean;
  readonly baseUrl: string | undefined;
  /** gRPC addresses by service. */
  readonly rpc: Readonly<Record<string, string>>;
  /** Addresses for probes and metrics by process. */
  readonly admin: Readonly<Record<string, string>>;
  /** A login with the role `platform`. */
  readonly platformDatabaseUrl: string | undefined;
}

export const RUN_FILE = join(".local", "run.json");

/** The one in `localDir`, when that is set; else the nearest `.local/run.json`, in `folder` or above it. */
export function findRunFile(folder: string, localDir: string | undefined): RunFile | undefined {
  if (localDir) {
    const path = resolve(folder, localDir, "run.json");
    return existsSync(path) ? readRunFile(path) : undefined;
  }
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, RUN_FILE);
    if (existsSync(path)) return readRunFile(path);
    if (dirname(at) === at) return undefined;
  }
}

/** @throws CommandFailure when there is a file that says nothing of use */
function readRunFile(path: string): RunFile {
  const wrong = (why: string, cause?: unknown): CommandFailure =>
    new CommandFailure("invalid_run_file", `${path} ${why}.`, { cause, hint: "It is written by npm start: start it again." });
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw wrong("cannot be read as JSON", error);
  }
  if (!isObject(content)) throw wrong("does not hold a JSON object");
  const { launcher, base_url, rpc, admin, platform_database_url } = content;
  return {
    path,
    ended: hasEnded(launcher),
    baseUrl: textOf(base_url),
    rpc: addresses(rpc),
    admin: addresses(admin),
    platformDatabaseUrl: textOf(platform_database_url),
  };
}

/** Only if it says who wrote it: a file made by hand counts as good. */
function hasEnded(launcher: unknown): boolean {
  if (!isObject(launcher) || typeof launcher["pid"] !== "number") return false;
  return !isAlive({ pid: launcher["pid"], startedAt: textOf(launcher["startedAt"]) });
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function addresses(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
