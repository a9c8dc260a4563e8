import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { ControlledServer } from "./controlled-server.ts";
import { eventually } from "./eventually.ts";

const run = promisify(execFile);
const DOCKER_MS_MAX = 60_000;

interface ContainerOptions {
  readonly image: string;
  /** Part of the container's name, e.g. `redis`. */
  readonly service: string;
  /** The caller chooses it: one of Docker's choosing would change when the container is started again. */
  readonly port: number;
  readonly containerPort: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: that of the image. */
  readonly command?: readonly string[];
  /** Default: 10 s. */
  readonly readyMsMax?: number;
  /** Rejects until the server is ready. */
  ping(): Promise<void>;
}

/**
 * Creates a container and does not start it. Its label names the run that owns it: the run removes its containers when it
 * ends, and deploy/backing-services/ensure.sh those of runs whose process is gone.
 */
export async function createContainer(options: ContainerOptions): Promise<ControlledServer> {
  const owner = process.env["BRAND_RECORDS_RUN"] ?? String(process.pid);
  const name = `brand-records-${options.service}-${owner}-${randomBytes(4).toString("hex")}`;
  const published = `127.0.0.1:${options.port}:${options.containerPort}`;
  const env = Object.entries(options.env ?? {}).flatMap(([setting, value]) => ["--env", `${setting}=${value}`]);
  const flags = ["--name", name, "--label", `brand-records.run=${owner}`, "--publish", published, ...env];
  await docker("create", ...flags, options.image, ...(options.command ?? []));
  let pid = 0;
  let stopped: Promise<void> | undefined;
  return {
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
      pid = Number(await inspect(name, "{{.State.Pid}}"));
      await eventually(() => options.ping(), { timeoutMs: options.readyMsMax ?? 10_000 });
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
