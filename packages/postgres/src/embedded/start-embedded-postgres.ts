import { setTimeout as pause } from "node:timers/promises";
import { readyBinaries } from "./binaries.ts";
import { embeddedDataDir } from "./data-directory.ts";
import { ServerEndedError } from "./errors.ts";
import { freePort } from "./free-port.ts";
import { initialise } from "./initialise.ts";
import { stopOrphanedPostgres } from "./postmaster.ts";
import { launchServer, type EmbeddedPostgres } from "./launch-server.ts";
import { serverUserFor } from "./server-user.ts";

/** A free port may be taken before Postgres listens; the memory of a killed server is freed within a second or two. */
const TRIES_MAX = 50;
const RETRY_MS = 100;

export interface EmbeddedPostgresOptions {
  /** Made if it is not there. Under root it may lie elsewhere: see `embeddedDataDir`. */
  readonly dataDir: string;
  /** A free one unless given. */
  readonly port?: number;
  /** The superuser made with the data directory. */
  readonly user?: string;
  /** The password is set when the data directory is made; later starts must give the same. */
  readonly password: string;
  /** Postgres settings, e.g. `{ max_connections: "300" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Takes each line Postgres writes. */
  log?(line: string): void;
}

/**
 * Starts Postgres on 127.0.0.1 and resolves when it has answered a query. A server left by a process that was killed is
 * stopped first. It is out of reach of Ctrl-C in the terminal: whoever starts it decides when it stops.
 *
 * @throws EmbeddedPostgresError if it cannot: data of another version, wrong password, port taken, in use
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { user = "postgres", password, settings = {}, log = () => {} } = options;
  const dataDir = embeddedDataDir(options.dataDir);
  const binaries = await readyBinaries();
  await stopOrphanedPostgres(options.dataDir);
  await initialise({ dataDir, user, password, binaries, durable: settings["fsync"] !== "off" });
  const as = await serverUserFor(dataDir);
  for (let tries = 1; ; tries += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await launchServer({ dataDir, port, user, password, settings, log, binary: binaries.postgres, as });
    } catch (error) {
      const passing = error instanceof ServerEndedError && (error.memoryHeld || (error.portTaken && options.port === undefined));
      if (!passing || tries === TRIES_MAX) throw error;
      await pause(RETRY_MS);
    }
  }
}
