import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  deleteEmbeddedData,
  embeddedDataDir,
  freePort,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "@brand-records/postgres/embedded";
import type { ControlledServer } from "./controlled-server.ts";
import { makeOwnedFolder, removeOrphanedFolders } from "./owned-folders.ts";

const run = promisify(execFile);

const PREFIX = "brand-records-postgres-";

/** A commit that was acknowledged survives `kill`, though not a power cut of the machine. */
const SETTINGS = { fsync: "off", full_page_writes: "off", max_connections: "150" };

/** An empty Postgres on loopback, which no other test uses. `start` after `kill` brings back what was committed before. */
export interface PostgresServer extends ControlledServer {
  /** The database `postgres`, as superuser. */
  readonly url: string;
  /** Folder that the server's user owns, which is not the tests' user under root. */
  readonly dataDir: string;
}

interface PostgresServerOptions {
  /** The folder with the binaries of an installed Postgres. Default: those of the npm package. */
  readonly binDir?: string;
  /** Beside those of every test server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives each line of its log. */
  log?(line: string): void;
}

/** Starts a Postgres on a free port. Resolves when it has run a query. */
export async function startPostgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  await removeOrphanedFolders(PREFIX, removeData);
  const folder = await makeOwnedFolder(PREFIX);
  // Under root, Postgres runs as another user, who must be able to enter it.
  await chmod(folder, 0o755);
  const server = new Server(folder, await freePort(), options);
  await server.start();
  return server;
}

class Server implements PostgresServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #options: PostgresServerOptions;
  readonly #password = randomBytes(12).toString("hex");
  #running: EmbeddedPostgres | undefined;
  #pid = 0;

  constructor(folder: string, port: number, options: PostgresServerOptions) {
    this.#folder = folder;
    this.#port = port;
    this.#options = options;
  }

  get url(): string {
    return `postgresql://postgres:${this.#password}@127.0.0.1:${this.#port}/postgres`;
  }

  get pid(): number {
    return this.#pid;
  }

  get dataDir(): string {
    return embeddedDataDir(join(this.#folder, "data"));
  }

  async start(): Promise<void> {
    const dataDir = join(this.#folder, "data");
    const { settings, ...options } = this.#options;
    const all = { ...SETTINGS, ...settings };
    this.#running = await startEmbeddedPostgres({ ...options, dataDir, port: this.#port, password: this.#password, settings: all });
    const [pid] = (await readFile(join(this.dataDir, "postmaster.pid"), "utf8")).split("\n");
    this.#pid = Number(pid);
  }

  /** The postmaster first: it starts no more sessions then. */
  async freeze(): Promise<void> {
    process.kill(this.#pid, "SIGSTOP");
    for (const pid of await childrenOf(this.#pid)) signal(pid, "SIGSTOP");
  }

  async thaw(): Promise<void> {
    for (const pid of await childrenOf(this.#pid)) signal(pid, "SIGCONT");
    process.kill(this.#pid, "SIGCONT");
  }

  /** Sessions end by themselves when their postmaster has gone; killed here, none finishes its statement before. */
  async kill(): Promise<void> {
    const children = await childrenOf(this.#pid);
    for (const pid of [this.#pid, ...children]) signal(pid, "SIGKILL");
    await this.#running?.exited;
  }

  async stop(): Promise<void> {
    await this.kill();
    await removeData(this.#folder);
  }
}

async function removeData(folder: string): Promise<void> {
  await deleteEmbeddedData(join(folder, "data"));
  await rm(folder, { recursive: true, force: true });
}

/** Sessions and background workers. They share no process group: Postgres gives each its own. */
async function childrenOf(parent: number): Promise<number[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid="]);
  const pairs = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([pid, itsParent]) => (itsParent === parent && pid !== undefined ? [pid] : []));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
