import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPool } from "@brand-records/postgres";
import { createDatabase, startProcess } from "@brand-records/testkit";
import { parse } from "yaml";
import { scriptOf } from "../program-script.ts";

/** One promise: the Compose file runs every process with settings that it accepts. image.release.test.ts builds the image. */

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

  it("runs every process, with a health check", async () => {
    const names = [...(await readdir(join(ROOT, "services"))), "gateway", "console"];
    expect(new Set(processes.map(([name]) => name))).toEqual(new Set(names));
    for (const [name, { command, healthcheck }] of processes) {
      expect([name, existsSync(join(ROOT, command?.at(-1) ?? ""))]).toEqual([name, true]);
      expect(healthcheck?.test).toEqual(["CMD", "node", "deploy/image/healthy.js"]);
    }
  });

  it.each(processes)("gives %s its required settings and no unknown ones", async (_, { command, environment }) => {
    const env = Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, withSettings(value)]));
    const config = join(ROOT, command?.at(-1) ?? "", "../../config.js");
    const program = `import { parseConfig } from ${JSON.stringify(config)};
      process.stdout.write(JSON.stringify(Object.keys(parseConfig(process.env))));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: ROOT, env });
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(Object.keys(env)));
  });

  it("runs brandctl for single commands, with known settings and the addresses of all processes", async () => {
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
    // brandctl must start when other processes do not.
    expect(Object.keys(depends_on ?? {})).toEqual(["certificates"]);
  });

  it("gives brandctl and the platform a database login with the role platform only", async () => {
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
      script: scriptOf("records"),
      env: { DATABASE_URL: empty.url, STOP_GRACE_MS: "0" },
    });
    // Roles belong to the server, which other runs share.
    const login = `platform_backend_${process.pid}`;
    const superuser = openPool({ url: empty.url, max: 1, applicationName: "tests" });
    const platform = openPool({
      url: Object.assign(new URL(empty.url), { username: login, password: "pw" }).href,
      max: 1,
      applicationName: "tests",
    });
    try {
      await superuser.query(`create role ${login} login password 'pw'`);
      // Twice, as every start runs it.
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

  it("runs records in a second cell with the override of docs/compose.md", async () => {
    const [, override = ""] = /^## A second cell\n.*?```yaml\n(.*?)```/ms.exec(readFileSync(join(ROOT, "docs/compose.md"), "utf8")) ?? [];
    type Override = ComposeService & { readonly extends?: { readonly file: string; readonly service: string } };
    const { services: added } = parse(override) as { services: Readonly<Record<string, Override>> };
    const base = Object.entries(added).map(([name, its]) => [name, services[its.extends?.service ?? name]] as const);
    expect(base.filter(([, service]) => service === undefined)).toEqual([]);
    expect(Object.entries(added).flatMap(([name, its]) => (its.extends === undefined ? [] : [name]))).toEqual([
      "postgres-b",
      "records-b",
      "platform-role-b",
    ]);
    const settings = Object.entries(added).flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(settings).toEqual(expect.arrayContaining(["DATABASE_URL", "RECORDS_CELLS", "RECORDS_CELL_DATABASES"]));
    const { stdout: help } = await run(join(ROOT, "node_modules/.bin/brandctl"), ["--help"]);
    for (const name of Object.keys(added["brandctl"]?.environment ?? {})) expect(help).toContain(name);
    // The gateway calls it by a name of its certificate, which records' own has too.
    expect(added["gateway"]?.environment).toEqual({ RECORDS_CELLS: "b=records-b:7000" });
    expect(added["certificates"]?.command).toEqual(
      (services["certificates"]?.command ?? []).map((name) => (name === "records" ? "records,records-b" : name)),
    );
  });

  it("publishes only the gateway, and only to this machine", () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([["gateway", ["127.0.0.1:${PORT:-8080}:8080"]]]);
  });

  it("depends only on services that exist", () => {
    const dependencies = Object.values(services).flatMap(({ depends_on = {} }) => Object.keys(depends_on));
    expect(Object.keys(services)).toEqual(expect.arrayContaining(dependencies));
  });

  it("takes its secrets from settings listed in .env.example, and contains none", () => {
    const used = new Set([...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    const example = readFileSync(join(ROOT, ".env.example"), "utf8").matchAll(/^([A-Z_]+)=(.*)$/gm);
    const listed = new Map([...example].map(([, name, value]) => [name, value]));
    expect(new Set(listed.keys())).toEqual(used);
    // No provider, no client secret.
    const secrets = [...listed].filter(([name]) => /PASSWORD|PEPPERS|SECRET/.test(name ?? "") && name !== "OIDC_CLIENT_SECRET");
    expect(listed.get("OIDC_CLIENT_SECRET")).toBe("");
    expect(secrets).toHaveLength(8);
    for (const [name, value] of secrets) expect([name, value]).toEqual([name, ""]);
    // These have no default: compose refuses to start without them.
    for (const [name] of secrets) expect(text).toContain(`\${${name}:?`);
  });
});

const KEY = `1:${Buffer.alloc(32, 7).toString("base64")}`;
const SETTINGS: Readonly<Record<string, string>> = {
  SMTP_URL: "smtps://mail.example.com",
  MAIL_FROM: "no-reply@example.com",
  PUBLIC_URL: "https://records.example",
  KEY_PEPPERS: KEY,
  RECEIVER_SECRET_KEYS: KEY,
  TRUST_PROXY: "1",
  ALLOWED_ORIGINS: "https://app.example",
  OIDC_ISSUER: "https://id.example",
  OIDC_CLIENT_SECRET: "0123456789abcdef",
  OIDC_TRUST_EMAIL: "false",
  SIGN_IN_LINKS: "false",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://tempo:4318",
  OTEL_TRACES_SAMPLER_ARG: "0.05",
};

/** Substitutes variables as Compose does; those without a default come from SETTINGS. */
function withSettings(value: string): string {
  const inner = value.replaceAll(
    /\$\{([A-Z_]+)(?::[-?]([^{}]*))?\}/g,
    (_, name: string, fallback: string) => SETTINGS[name] ?? (fallback || "secret"),
  );
  return inner === value ? value : withSettings(inner);
}
