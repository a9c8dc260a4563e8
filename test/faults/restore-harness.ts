import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPool, type Database } from "@brand-records/postgres";
import { makeOwnedFolder, removeOrphanedFolders, startPostgresServer, startRedisServer, type PostgresServer } from "@brand-records/testkit";
import { startFakeReceivers, type FakeReceivers } from "../fake-receivers.ts";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { startStack, type ServiceName, type Stack } from "../stack.ts";

const run = promisify(execFile);
const PREFIX = "brand-records-restore-";
/** The number of the receiver that refuses every delivery. */
export const REFUSING = 9;
export const SERVICES: readonly ServiceName[] = ["accounts", "plans", "records", "webhook"];

/** The lines of the shell blocks of a section of docs/operations.md. */
export async function documentedCommands(title = "Backup and restore"): Promise<readonly string[]> {
  const page = await readFile(join(process.cwd(), "docs/operations.md"), "utf8");
  const section = new RegExp(`^## ${title}\\n(.*?)^## `, "ms").exec(page)?.[1] ?? "";
  return [...section.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = ""]) => block.trim().split("\n"));
}

/** Returns the one documented command that contains `words`. @param replaced text of the page by what takes its place */
export function commandWith(commands: readonly string[], words: string, replaced: Readonly<Record<string, string>>): string {
  const found = commands.filter((line) => line.includes(words));
  if (found.length !== 1) throw new Error(`docs/operations.md has ${found.length} commands with ${words}`);
  return Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), found[0] ?? "");
}

export interface Restore {
  readonly stack: Stack;
  readonly server: PostgresServer;
  readonly receivers: FakeReceivers;
  /** Where the backups are. */
  readonly folder: string;
  /** The rows of a service's own database. */
  readonly db: Record<ServiceName, Database>;
  urlOf(service: ServiceName): string;
  /**
   * Runs the one documented command that contains `words`, with the settings of a service as its environment, in `folder`.
   *
   * @param replaced text of the page by what takes its place
   * @throws with its output if it fails
   */
  command(words: string, service: ServiceName, replaced?: Readonly<Record<string, string>>): Promise<string>;
  stop(): Promise<void>;
}

/** A system whose services have a database each, on the oldest supported Postgres, which archives its write-ahead log. */
export async function startRestore(kafkaBrokers: string): Promise<Restore> {
  const binDir = (await ensureBackingServices("postgres")).get("POSTGRES_BIN") ?? "";
  await removeOrphanedFolders(PREFIX);
  const folder = await makeOwnedFolder(PREFIX);
  await chmod(folder, 0o755);
  const archive = join(folder, "archive");
  await mkdir(archive);
  await chmod(archive, 0o777);
  const settings = { archive_mode: "on", archive_command: `cp %p ${archive}/%f`, wal_level: "replica" };
  const [server, redis, receivers] = await Promise.all([
    startPostgresServer({ binDir, settings }),
    startRedisServer(),
    startFakeReceivers((receiver) => (receiver === REFUSING ? "500" : "accepted")),
  ]);
  const admin = openPool({ url: server.url, applicationName: "restore test", max: 1 });
  for (const service of SERVICES) await admin.query(`create database ${service}_of_test`);
  await admin.stop();
  const urlOf = (service: ServiceName): string => server.url.replace(/\/postgres$/, `/${service}_of_test`);
  const own: Record<ServiceName, Record<string, string>> = {
    accounts: { KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` },
    plans: {},
    records: {},
    webhook: { RECEIVER_SECRET_KEYS: `1:${randomBytes(32).toString("base64")}`, RECEIVERS_ON_LOOPBACK: "true" },
  };
  const envOf = { ...own };
  for (const service of SERVICES) envOf[service] = { ...own[service], DATABASE_URL: urlOf(service) };
  const stack = await startStack({
    database: { url: urlOf("records"), drop: async () => {} },
    kafkaBrokers,
    redisUrl: redis.url,
    env: { RATE_LIMIT_PLUS: "100000", LOG_LEVEL: "info" },
    envOf,
  });
  const db = Object.fromEntries(
    SERVICES.map((service) => [service, openPool({ url: urlOf(service), applicationName: "restore test", max: 2 })]),
  ) as Record<ServiceName, Database>;
  const commands = await documentedCommands();
  return {
    stack,
    server,
    receivers,
    folder,
    db,
    urlOf,
    async command(words, service, replaced = {}) {
      const line = commandWith(commands, words, replaced);
      const env = {
        ...envOf[service],
        ADMIN_URL: server.url,
        REDIS_URL: redis.url,
        KAFKA_BROKERS: kafkaBrokers,
        KAFKA_TOPIC: stack.topic,
        ACCOUNTS_ADDRESS: stack.addresses.accounts,
        PATH: `${binDir}:${process.env["PATH"]}`,
      };
      const brandctl = `node ${process.cwd()}/brandctl/dist/main.js`;
      return runIn(folder, line.replace("node services/", `node ${process.cwd()}/services/`).replace("npx brandctl", brandctl), env);
    },
    async stop() {
      await Promise.all(Object.values(db).map((each) => each.stop()));
      await stack.stop();
      await Promise.all([server.stop(), redis.stop(), receivers.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a line of bash. @throws with its output if it fails */
export async function runIn(cwd: string, line: string, env: Record<string, string>): Promise<string> {
  const shell = spawn("bash", ["-e", "-o", "pipefail", "-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(shell, "close")) as [number | null];
  if (code !== 0) throw new Error(`exit code ${code} of ${line}\n${output}`);
  return output;
}

/** Puts a base backup in the place of the server's data, which must not run. */
export async function replaceData(dataDir: string, backup: string): Promise<void> {
  const { uid, gid } = await stat(dataDir);
  await rm(dataDir, { recursive: true });
  await run("cp", ["-R", backup, dataDir]);
  await chmod(dataDir, 0o700);
  await run("chown", ["-R", `${uid}:${gid}`, dataDir]);
  await chown(dataDir, uid, gid);
}

const AUDIT_FILE = "audit.ndjson";

/** Runs the documented export into the file that the documented restore reads. */
export async function exportAudit(restore: Restore): Promise<void> {
  await restore.command("--out .local/audit.ndjson", "accounts", { ".local/audit.ndjson": AUDIT_FILE });
}

/** The actions of the lines of the export, in their order. */
export async function auditActionsIn({ folder }: Restore): Promise<string[]> {
  const text = await readFile(join(folder, AUDIT_FILE), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { action: string }).action);
}
