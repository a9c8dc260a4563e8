import { randomBytes } from "node:crypto";
import { freePort } from "@brand-records/postgres/embedded";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { runProgram } from "../chart/kubernetes/run-program.ts";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";

/** One promise: what buildah builds from the Dockerfile runs without a writable root, capabilities or a user of its own. */

const BUILD_MS_MAX = 20 * 60_000;
const PULL_MS_MAX = 180_000;
const RUN_MS_MAX = 120_000;
const IMAGE = `localhost/brand-records:test-${randomBytes(4).toString("hex")}`;
const ROOT = process.cwd();
const BASE = "docker.io/library/node:24-bookworm-slim";
/** Runs on version 1 and 2 of cgroups and on both together, as crun does not. */
const RUNTIME = "--runtime=runc";

const tool = (command: string, args: readonly string[], timeoutMs?: number): Promise<string> =>
  runProgram(command, args, { cwd: ROOT, cure: `${command} is missing`, ...(timeoutMs && { timeoutMs }) });

let isBuilt = false;
let database: TestDatabase;
const containers: string[] = [];
beforeAll(async () => {
  await ensureBackingServices("image");
  await haveBase();
  const isolation = process.env["BUILDAH_ISOLATION"] ?? "oci";
  await tool(
    "buildah",
    ["build", "--pull=never", "--network=host", RUNTIME, `--isolation=${isolation}`, "--tag", IMAGE, "."],
    BUILD_MS_MAX,
  );
  isBuilt = true;
  database = await createDatabase("empty");
}, BUILD_MS_MAX);
afterAll(async () => {
  for (const name of containers) await tool("podman", ["rm", "--force", "--ignore", "--time=5", name]);
  if (isBuilt) await tool("buildah", ["rmi", "--force", IMAGE]);
  await database?.drop();
}, RUN_MS_MAX);

/** Has it already, pulls it, or makes one like it where the registry cannot be reached. */
async function haveBase(): Promise<void> {
  const pull = tool("buildah", ["pull", "--quiet", "--policy=missing", BASE], PULL_MS_MAX);
  await pull.catch(() => tool("deploy/image/base-image.sh", [BASE], BUILD_MS_MAX));
}

/** Options that the chart's security contexts demand. */
const RESTRICTED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--user=1000:1000"];
/** podman's defaults are above what some machines allow. */
const LIMITS = ["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"];

async function start(program: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const name = `brand-records-${randomBytes(4).toString("hex")}`;
  const env = Object.entries(settings).map(([setting, value]) => `--env=${setting}=${value}`);
  containers.push(name);
  await tool("podman", [
    RUNTIME,
    "run",
    "--detach",
    "--network=host",
    "--name",
    name,
    ...RESTRICTED,
    ...LIMITS,
    ...env,
    IMAGE,
    "node",
    "--enable-source-maps",
    program,
  ]);
  return name;
}

it(
  "serves a request as a user without rights on a root that cannot be written",
  async () => {
    const [port, rpc, admin, gatewayAdmin] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const accounts = await start("services/accounts/dist/bundle/main.js", {
      DATABASE_URL: database.url,
      KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}`,
      RPC_PORT: String(rpc),
      ADMIN_PORT: String(admin),
      STOP_GRACE_MS: "0",
    });
    const address = `127.0.0.1:${rpc}`;
    const gateway = await start("gateway/dist/bundle/main.js", {
      PORT: String(port),
      ADMIN_PORT: String(gatewayAdmin),
      ACCOUNTS_ADDRESS: address,
      PLANS_ADDRESS: address,
      RECORDS_ADDRESS: address,
      STOP_GRACE_MS: "0",
    });
    // The check of the image's own health.
    for (const name of [accounts, gateway]) {
      await eventually(() => tool("podman", ["exec", name, "node", "deploy/image/healthy.js"]), { timeoutMs: RUN_MS_MAX, everyMs: 500 });
    }
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/campaigns`, { headers: { authorization: "Bearer made-up" } });
    expect(response.status).toBe(401);
    expect((await tool("podman", ["exec", gateway, "id", "-u"])).trim()).toBe("1000");
    await expect(tool("podman", ["exec", gateway, "touch", "/tmp/written"])).rejects.toThrow(/Read-only file system/);
    expect(await tool("podman", ["exec", gateway, "grep", "CapEff", "/proc/self/status"])).toMatch(/0{16}/);
    for (const name of [gateway, accounts]) {
      await tool("podman", ["stop", "--time=30", name]);
      expect((await tool("podman", ["inspect", "--format={{.State.ExitCode}}", name])).trim()).toBe("0");
    }
  },
  2 * RUN_MS_MAX,
);
