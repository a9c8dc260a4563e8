import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startRedisServer } from "@brand-records/testkit";
import { own } from "./started-services.ts";

const run = promisify(execFile);

/** @param found what ensure.sh printed */
export async function startRedis(found: ReadonlyMap<string, string>): Promise<void> {
  for (const name of ["REDIS_SERVER", "REDIS_IMAGE"]) {
    const value = found.get(name);
    if (value !== undefined) process.env[name] = value;
  }
  if (found.has("REDIS_IMAGE")) own("redis containers", removeRedisContainers);
  process.env["TEST_REDIS_URL"] = found.get("REDIS_URL") ?? (await startOwnRedis());
}

/** Removes the shared container and those that failed tests left. */
export async function removeRedisContainers(): Promise<void> {
  const { stdout } = await run("docker", ["ps", "--all", "--quiet", "--filter", `label=brand-records.run=${process.pid}`]);
  const ids = stdout.split("\n").filter((id) => id !== "");
  if (ids.length > 0) await run("docker", ["rm", "--force", "--volumes", ...ids]);
}

async function startOwnRedis(): Promise<string> {
  const redis = await startRedisServer();
  own("redis", () => redis.stop());
  return redis.url;
}
