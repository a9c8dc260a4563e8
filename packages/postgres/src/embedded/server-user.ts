import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { runsAsRoot } from "./data-directory.ts";

const run = promisify(execFile);

/** For child_process.spawn; nothing means: as ourselves. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** Whom Postgres runs as: ourselves; under root the owner of the data, or nobody while there is none. */
export async function serverUserFor(dataDir: string): Promise<ServerUser> {
  if (!runsAsRoot) return {};
  const owner = await stat(dataDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const [uid, gid] = await Promise.all(["-u", "-g"].map(async (which) => Number((await run("id", [which, "nobody"])).stdout)));
  return { uid: uid as number, gid: gid as number };
}

/** Nothing of ours: PGDATA, PGPORT and the like of whoever starts us would be taken as settings. */
export const SERVER_ENVIRONMENT: NodeJS.ProcessEnv = { LC_ALL: "C", TZ: "UTC" };
