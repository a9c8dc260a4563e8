import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isAlive } from "@brand-records/lifecycle";
import { CommandFailure } from "../failure.ts";

/** The part that brandctl reads of what `npm start` writes about its processes. */
export interface RunFile {
  readonly path: string;
  /** The launcher was killed before it could remove the file: its content is stale. */
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

/** Finds the run file: in `localDir` if that is set, else the nearest `.local/run.json` from `folder` upwards. */
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

/** @throws CommandFailure if the file is not a JSON object */
function readRunFile(path: string): RunFile {
  const invalid = (problem: string, cause?: unknown): CommandFailure =>
    new CommandFailure("invalid_run_file", `${path} ${problem}.`, { cause, hint: "npm start writes it: start it again." });
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw invalid("cannot be read as JSON", error);
  }
  if (!isObject(content)) throw invalid("does not hold a JSON object");
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

/** False for a file without a launcher, such as one made by hand. */
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
