import { setTimeout as pause } from "node:timers/promises";
import { installedBinaries, readyBinaries } from "./binaries.ts";
import { embeddedDataDir, serverUserFor } from "./data-directory.ts";
import { ServerEndedError } from "./errors.ts";
import { freePort } from "./free-port.ts";
import { initialise } from "./initialise.ts";
import { stopOrphanedPostgres } from "./postmaster.ts";
import { launchServer, type EmbeddedPostgres } from "./launch-server.ts";

/** Another process may take the port before Postgres listens; the memory of a killed server is freed within two seconds. */
const TRIES_MAX = 50;
const RETRY_MS = 100;

interface EmbeddedPostgresOptions {
  /** Created if it does not exist. For root it may lie elsewhere: see `embeddedDataDir`. */
  readonly dataDir: string;
  /** Default: a free port. */
  readonly port?: number;
  /** The superuser, created with the data directory. Default: postgres. */
  readonly user?: string;
  /** Set when the data directory is created; later starts must use the same. */
  readonly password: string;
  /** Postgres settings, e.g. `{ max_connections: "300" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder with the binaries of an installed Postgres. Default: those of the npm package. */
  readonly binDir?: string | undefined;
  /** When aborted, the server ends immediately, also while it starts. The next start recovers every committed change. */
  readonly killed?: AbortSignal;
  /** Receives each line of output. */
  log?(line: string): void;
}

/**
 * Starts Postgres on 127.0.0.1 and resolves when it has run a query. Stops a server that a killed process left behind. Ctrl-C
 * in the terminal does not reach the server: its owner must stop it.
 *
 * @throws EmbeddedPostgresError for data of another version or in use, a wrong password, or a port in use
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { user = "postgres", password, settings = {}, killed, log = () => {} } = options;
  const dataDir = embeddedDataDir(options.dataDir);
  const binaries = options.binDir === undefined ? await readyBinaries() : await installedBinaries(options.binDir);
  await stopOrphanedPostgres(options.dataDir);
  await initialise({ dataDir, user, password, binaries, killed, durable: settings["fsync"] !== "off" });
  const as = await serverUserFor(dataDir);
  for (let tries = 1; ; tries += 1) {
    killed?.throwIfAborted();
    const port = options.port ?? (await freePort());
    try {
      return await launchServer({ dataDir, port, user, password, settings, killed, log, binary: binaries.postgres, as });
    } catch (error) {
      const isTransient = error instanceof ServerEndedError && (error.memoryHeld || (error.portTaken && options.port === undefined));
      if (!isTransient || tries === TRIES_MAX) throw error;
      await pause(RETRY_MS);
    }
  }
}
