import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPool } from "@brand-records/postgres";
import { createDatabase, startProcess } from "@brand-records/testkit";
import { parse } from "yaml";

/** One promise: the Compose file runs every process with settings that it knows. image.full.test.ts builds the image itself. */

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, "../..");

interface ComposeService {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

describe("docker-compose.yml", () => {
  const text = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");
  const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, ComposeService>> };
  const processes = Object.entries(services).filter(([, { image, profiles }]) => image === "brand-records" && profiles === undefined);

  it("runs every process there is, and asks each how it is", async () => {
    const names = [...(await readdir(join(ROOT, "services"))), "gateway"];
    expect(new Set(processes.map(([name]) => name))).toEqual(new Set(names));
    for (const [name, { command, healthcheck }] of processes) {
      expect([name, existsSync(join(ROOT, command?.at(-1) ?? ""))]).toEqual([name, true]);
      expect(healthcheck?.test).toEqual(["CMD", "node", "deploy/image/healthy.js"]);
    }
  });

  it.each(processes)("gives %s what its settings need, and nothing they do not know", async (_, { command, environment }) => {
    const env = Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, withSettings(value)]));
    const config = join(ROOT, command?.at(-1) ?? "", "../config.js");
    const program = `import { parseConfig } from ${JSON.stringify(config)};
      process.stdout.write(JSON.stringify(Object.keys(parseConfig(process.env))));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: ROOT, env });
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(Object.keys(env)));
  });

  it("has the operators' command line for single commands, with the settings it knows and the addresses of all", async () => {
    const { profiles, entrypoint, environment = {}, depends_on } = services["brandctl"] as ComposeService;
    expect({ profiles, entrypoint }).toEqual({ profiles: ["tools"], entrypoint: ["brandctl"] });
    const brandctl = join(ROOT, "node_modules/.bin", entrypoint?.[0] ?? "");
    const { stdout: help } = await run(brandctl, ["--help"]);
    for (const name of Object.keys(environment)) expect(help).toContain(name);
    const hosts = ["ACCOUNTS", "PLANS", "RECORDS", "WEBHOOK"].map((name) => environment[`${name}_ADDRESS`]);
    expect(hosts).toEqual(["accounts:7000", "plans:7000", "records:7000", "webhook:7000"]);
    expect(environment["BASE_URL"]).toBe("http://gateway:8080");
    const adminPort = /ADMIN_PORT=(\d+)/.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.[1];
    for (const [name, process] of processes) {
      expect(environment[`${name.toUpperCase()}_ADMIN`]).toBe(`http://${name}:${adminPort}`);
      expect(process.environment?.["ADMIN_HOST"]).toBe("0.0.0.0");
    }
    // It is needed most when something is not well.
    expect(Object.keys(depends_on ?? {})).toEqual(["certificates"]);
  });

  it("lets brandctl and whoever writes the records in by a login of their own, with the role platform and no more", async () => {
    const { username } = new URL(withSettings(services["brandctl"]?.environment?.["PLATFORM_DATABASE_URL"] ?? ""));
    const roles = readFileSync(join(ROOT, "deploy/compose/roles.sql"), "utf8");
    expect(roles).toContain(`create role ${username} login password :'platform_password'`);
    const { command = [], volumes = [], depends_on } = services["platform-role"] as ComposeService;
    expect(depends_on).toEqual({ records: { condition: "service_healthy" } });
    const [source = "", target] = (volumes[0] ?? "").split(":");
    expect(command).toContain(`--file=${target}`);
    const grant = command.find((argument) => argument.startsWith("--command="))?.slice("--command=".length) ?? "";
    const empty = await createDatabase("empty");
    const records = await startProcess({
      name: "records",
      script: join(ROOT, "services/records/dist/main.js"),
      env: { DATABASE_URL: empty.url, STOP_GRACE_MS: "0" },
    });
    // The server's roles are not the database's own: another run may have one of that name.
    const login = `platform_backend_${process.pid}`;
    const superuser = openPool({ url: empty.url, max: 1, applicationName: "tests" });
    const platform = openPool({
      url: Object.assign(new URL(empty.url), { username: login, password: "pw" }).href,
      max: 1,
      applicationName: "tests",
    });
    try {
      await superuser.query(`create role ${login} login password 'pw'`);
      // Again, as with every start.
      for (let i = 0; i < 2; i += 1) {
        await superuser.query(readFileSync(join(ROOT, source), "utf8"));
        await superuser.query(grant.replace(username, login));
      }
      expect(await platform.query("select id from records.payouts")).toEqual([]);
      await expect(platform.query("select id from records.outbox")).rejects.toThrow("permission denied for table outbox");
    } finally {
      await platform.stop();
      await records.kill();
      await superuser.query(`drop role ${login}`);
      await superuser.stop();
      await empty.drop();
    }
  });

  it("publishes the gateway only, and to this machine only", () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([["gateway", ["127.0.0.1:${PORT:-8080}:8080"]]]);
  });

  it("waits only for what there is", () => {
    const waitedFor = Object.values(services).flatMap(({ depends_on = {} }) => Object.keys(depends_on));
    expect(Object.keys(services)).toEqual(expect.arrayContaining(waitedFor));
  });

  it("takes its secrets from settings that .env.example tells of, and holds none itself", () => {
    const used = new Set([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    const example = readFileSync(join(ROOT, ".env.example"), "utf8").matchAll(/^([A-Z_]+)=(.*)$/gm);
    const told = new Map([...example].map(([, name, value]) => [name, value]));
    expect(new Set(told.keys())).toEqual(used);
    const secrets = [...told].filter(([name]) => /PASSWORD|PEPPERS|SECRET/.test(name ?? ""));
    expect(secrets).toHaveLength(8);
    for (const [name, value] of secrets) expect([name, value]).toEqual([name, ""]);
    // Without a default: compose refuses to start without them.
    for (const [name] of secrets) expect(text).toContain(`\${${name}:?`);
  });
});

const KEY = `1:${Buffer.alloc(32, 7).toString("base64")}`;
const SETTINGS: Readonly<Record<string, string>> = {
  KEY_PEPPERS: KEY,
  RECEIVER_SECRET_KEYS: KEY,
  TRUST_PROXY: "1",
  ALLOWED_ORIGINS: "https://app.example",
};

/** As compose fills in a value, with settings of ours for those without a default. */
function withSettings(value: string): string {
  return value.replaceAll(
    /\$\{([A-Z_]+)(?::[-?]([^}]*))?\}/g,
    (_, name: string, fallback: string) => SETTINGS[name] ?? (fallback || "secret"),
  );
}
