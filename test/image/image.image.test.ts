import { randomBytes } from "node:crypto";
import { freePort } from "@brand-records/postgres/embedded";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { runProgram } from "../chart/kubernetes/run-program.ts";

/** One promise: what buildah builds from the Dockerfile runs without a writable root, capabilities or a user of its own. */

const BUILD_MS_MAX = 20 * 60_000;
const RUN_MS_MAX = 120_000;
const IMAGE = `localhost/brand-records:test-${randomBytes(4).toString("hex")}`;
const ROOT = process.cwd();

const tool = (command: string, args: readonly string[], timeoutMs?: number): Promise<string> =>
  runProgram(command, args, { cwd: ROOT, cure: `${command} is missing: apt-get install buildah podman`, ...(timeoutMs && { timeoutMs }) });

let database: TestDatabase;
const containers: string[] = [];
beforeAll(async () => {
  await tool("podman", ["--version"]);
  const args = [
    "build",
    "--pull=missing",
    "--network=host",
    `--isolation=${process.env["BUILDAH_ISOLATION"] ?? "oci"}`,
    "--tag",
    IMAGE,
    ".",
  ];
  await tool("buildah", args, BUILD_MS_MAX).catch((error: unknown) => {
    const cure = "Without a registry, deploy/image/base-image.sh localhost/node:24-bookworm-slim makes the base.";
    throw new Error(`${String(error).slice(-4_000)}\n${cure}`, { cause: error });
  });
  database = await createDatabase("empty");
}, BUILD_MS_MAX);
afterAll(async () => {
  for (const name of containers) await tool("podman", ["rm", "--force", "--time=5", name]);
  await tool("buildah", ["rmi", "--force", IMAGE]);
  await database?.drop();
}, RUN_MS_MAX);

/** As the chart's security contexts demand. */
const RESTRICTED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--user=1000:1000"];

async function start(program: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const name = `brand-records-${randomBytes(4).toString("hex")}`;
  const env = Object.entries(settings).map(([setting, value]) => `--env=${setting}=${value}`);
  await tool("podman", [
    "run",
    "--detach",
    "--network=host",
    "--name",
    name,
    ...RESTRICTED,
    ...env,
    IMAGE,
    "node",
    "--enable-source-maps",
    program,
  ]);
  containers.push(name);
  return name;
}

it(
  "serves a request as a user without rights on a root that cannot be written",
  async () => {
    const [port, rpc, admin, gatewayAdmin] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const accounts = await start("services/accounts/dist/main.js", {
      DATABASE_URL: database.url,
      KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}`,
      RPC_PORT: String(rpc),
      ADMIN_PORT: String(admin),
      STOP_GRACE_MS: "0",
    });
    const address = `127.0.0.1:${rpc}`;
    const gateway = await start("gateway/dist/main.js", {
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
