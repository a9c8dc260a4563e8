import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { runsAsRoot } from "./data-directory.ts";

const run = promisify(execFile);

/** Options for child_process.spawn; empty for the current user. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Returns the user that Postgres runs as: the current user; for root, the owner of the data or else the user `nobody`. */
export async function serverUserFor(dataDir: string): Promise<ServerUser> {
  if (!runsAsRoot) return {};
  const owner = await stat(dataDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (which) => Number((await run("id", [which, "nobody"])).stdout)));
  return { uid: uid as number, gid: gid as number };
}

/** Replaces our environment: Postgres would read PGDATA, PGPORT and others from it. */
export const SERVER_ENVIRONMENT: NodeJS.ProcessEnv = { LC_ALL: "C", TZ: "UTC" };
