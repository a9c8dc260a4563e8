import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "./eventually.ts";
import { pingRedis } from "./ping-redis.ts";
import type { RedisServer } from "./redis-server.ts";

const run = promisify(execFile);

/**
 * The same as a redis-server process, for machines with Docker and no redis-server. The label tells
 * deploy/backing-services/ensure.sh whose container it is: it removes those whose process is gone.
 */
export async function startRedisContainer(image: string): Promise<RedisServer> {
  const port = await freePort();
  const name = `brand-records-redis-${process.pid}-${randomBytes(4).toString("hex")}`;
  // The port is ours to choose: with one of Docker's choosing the container would come back on another.
  const options = ["--name", name, "--label", `brand-records.run=${process.pid}`, "--publish", `127.0.0.1:${port}:6379`];
  await docker("run", "--detach", ...options, image, "redis-server", "--save", "", "--appendonly", "no");
  await eventually(() => pingRedis(port));
  let pid = await processId(name);
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return pid;
    },
    freeze: () => docker("pause", name),
    thaw: () => docker("unpause", name),
    kill: () => docker("kill", name),
    start: async () => {
      await docker("start", name);
      await eventually(() => pingRedis(port));
      pid = await processId(name);
    },
    stop: () => docker("rm", "--force", "--volumes", name),
  };
}

async function docker(...args: readonly string[]): Promise<void> {
  await run("docker", args);
}

async function processId(name: string): Promise<number> {
  const { stdout } = await run("docker", ["inspect", "--format", "{{.State.Pid}}", name]);
  return Number(stdout);
}
