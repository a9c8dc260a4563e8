import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import pg from "pg";
import { EmbeddedPostgresError, ServerEndedError } from "./errors.ts";
import { endPostmaster, STARTER_SETTING } from "./postmaster.ts";
import { SERVER_ENVIRONMENT, type ServerUser } from "./data-directory.ts";

/** Crash recovery replays the changes since the last checkpoint, which takes seconds, not minutes. */
const READY_MS_MAX = 120_000;
const POLL_MS = 10;
const LINES_KEPT = 20;
const LAST_OUTPUT_MS = 1_000;
const CONNECT_MS = 5_000;
const WRONG_PASSWORD = "28P01";
/** The line of the status in postmaster.pid, from zero. */
const STATUS_LINE = 7;

interface LaunchOptions {
  readonly binary: string;
  readonly as: ServerUser;
  readonly dataDir: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly killed: AbortSignal | undefined;
  log(line: string): void;
}

export interface EmbeddedPostgres {
  /** URL of the database `postgres`, with user and password. */
  readonly url: string;
  readonly port: number;
  /** Resolves when the server has exited for any reason. */
  readonly exited: Promise<void>;
  /** Disconnects all clients, writes a checkpoint and ends within 18 s. May be called any number of times. */
  stop(): Promise<void>;
}

/**
 * Runs Postgres on an initialized directory and resolves when it has run a query.
 *
 * @throws ServerEndedError if it ends before that, EmbeddedPostgresError if it refuses the password
 */
export async function launchServer(options: LaunchOptions): Promise<EmbeddedPostgres> {
  const child = spawn(options.binary, serverArguments(options), {
    ...options.as,
    cwd: "/",
    env: SERVER_ENVIRONMENT,
    // A process group of its own: Ctrl-C in the terminal would stop the database before its clients have drained.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const server = new Server(child, options);
  try {
    await server.untilReady();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

class Server implements EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly #lastLines: string[] = [];
  readonly #outputEnded: Promise<unknown>;
  #hasExited = false;
  #stopping: Promise<void> | undefined;

  constructor(child: ChildProcess, { dataDir, port, user, password, killed, log }: LaunchOptions) {
    this.url = `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
    this.port = port;
    this.#child = child;
    this.#dataDir = dataDir;
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (this.#lastLines.push(line) > LINES_KEPT) this.#lastLines.shift();
        log(line);
      });
    }
    this.#outputEnded = once(child, "close").catch(() => {});
    // An immediate shutdown: SIGKILL would leave the sessions' processes for a moment, and shared memory.
    const kill = (): void => void child.kill("SIGQUIT");
    if (killed?.aborted === true) kill();
    killed?.addEventListener("abort", kill, { once: true });
    this.exited = once(child, "exit").then(
      ([code, signal]) => {
        this.#hasExited = true;
        if (this.#stopping === undefined) log(`postgres ended unexpectedly (${code === null ? signal : `exit code ${code}`})`);
      },
      (error: Error) => {
        this.#hasExited = true;
        this.#lastLines.push(error.message);
      },
    );
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#hasExited) return;
    await endPostmaster(
      (signal) => this.#child.kill(signal),
      async (milliseconds) => (await withTimeout(this.exited, milliseconds)) !== TIMED_OUT,
    );
  }

  async untilReady(): Promise<void> {
    const deadline = performance.now() + READY_MS_MAX;
    while (!(await this.#acceptsConnections())) {
      if (this.#hasExited) throw await this.#ended();
      if (performance.now() >= deadline) throw new EmbeddedPostgresError(`Postgres is not ready after ${READY_MS_MAX / 1_000} s.`);
      await pause(POLL_MS);
    }
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: CONNECT_MS });
    try {
      await client.connect();
      await client.query("select 1");
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== WRONG_PASSWORD) throw error;
      throw new EmbeddedPostgresError(
        `The database in ${this.#dataDir} was created with another user or password. ` +
          `Use the same ones, or delete the database with "npm run reset".`,
        { cause: error },
      );
    } finally {
      await client.end();
    }
  }

  /** Reads postmaster.pid instead of connecting: connections that come too early write FATAL lines to the log. */
  async #acceptsConnections(): Promise<boolean> {
    const lines = (await readFile(join(this.#dataDir, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    return lines[0] === String(this.#child.pid) && lines[STATUS_LINE]?.trim() === "ready";
  }

  async #ended(): Promise<ServerEndedError> {
    // The last output may arrive after the exit; sessions of a killed server keep the pipe open.
    await withTimeout(this.#outputEnded, LAST_OUTPUT_MS);
    return new ServerEndedError(this.#dataDir, this.port, this.#lastLines.join("\n"));
  }
}

function serverArguments({ dataDir, port, settings }: LaunchOptions): string[] {
  const all = {
    ...settings,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(port),
    timezone: "UTC",
    log_timezone: "UTC",
    log_destination: "stderr",
    logging_collector: "off",
    [STARTER_SETTING]: String(process.pid),
  };
  return ["-D", dataDir, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}
