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
  const container = found.get("REDIS_CONTAINER");
  if (container !== undefined) own("redis container", () => run("docker", ["rm", "--force", "--volumes", container]));
  process.env["TEST_REDIS_URL"] = found.get("REDIS_URL") ?? (await startOwnRedis());
}

async function startOwnRedis(): Promise<string> {
  const redis = await startRedisServer();
  own("redis", () => redis.stop());
  return redis.url;
}
