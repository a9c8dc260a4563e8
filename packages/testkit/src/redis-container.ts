import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { eventually } from "./eventually.ts";
import { pingRedis } from "./ping-redis.ts";
import type { RedisServer, RedisSettings } from "./redis-server.ts";

const run = promisify(execFile);
const DOCKER_MS_MAX = 60_000;

/**
 * The same as a redis-server process, for machines with Docker and no redis-server. The label tells whose container it is:
 * the run removes its own at the end, and deploy/backing-services/ensure.sh those whose process is gone.
 */
export async function startRedisContainer(image: string, settings: RedisSettings = {}): Promise<RedisServer> {
  const port = await freePort();
  const owner = process.env["BRAND_RECORDS_RUN"] ?? String(process.pid);
  const name = `brand-records-redis-${owner}-${randomBytes(4).toString("hex")}`;
  // The port is ours to choose: with one of Docker's choosing the container would come back on another.
  const options = ["--name", name, "--label", `brand-records.run=${owner}`, "--publish", `127.0.0.1:${port}:6379`];
  const args = Object.entries({ save: "", appendonly: "no", ...settings }).flatMap(([name, value]) => [`--${name}`, value]);
  await docker("run", "--detach", ...options, image, "redis-server", ...args);
  await eventually(() => pingRedis(port));
  let pid = Number(await inspect(name, "{{.State.Pid}}"));
  let stopped: Promise<void> | undefined;
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return pid;
    },
    freeze: () => docker("pause", name),
    thaw: () => docker("unpause", name),
    kill: async () => {
      if ((await inspect(name, "{{.State.Running}}")) === "true") await docker("kill", name);
    },
    start: async () => {
      await docker("start", name);
      await eventually(() => pingRedis(port));
      pid = Number(await inspect(name, "{{.State.Pid}}"));
    },
    stop: () => (stopped ??= docker("rm", "--force", "--volumes", name)),
  };
}

async function docker(...args: readonly string[]): Promise<void> {
  await run("docker", args, { timeout: DOCKER_MS_MAX });
}

async function inspect(name: string, format: string): Promise<string> {
  const { stdout } = await run("docker", ["inspect", "--format", format, name], { timeout: DOCKER_MS_MAX });
  return stdout.trim();
}
