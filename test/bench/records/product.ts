import { freePort } from "@brand-records/postgres/embedded";
import { scriptOf, type Build } from "../build.ts";
import { DIALECTS } from "./load/dialects.ts";
import { HttpConnection } from "./load/http-connection.ts";
import { ROOT, type Program, type ProgramOptions } from "../program.ts";
import { POOL_SIZE } from "./settings.ts";

const START_SECONDS_MAX = 30;
const RETRY_MS = 5;

export interface Product {
  readonly programs: readonly Program[];
  /** One of `programs`. */
  readonly gateway: Program;
  /** One of `programs`. */
  readonly records: Program;
  readonly recordsAddress: string;
  /** The gateway's public port. */
  readonly port: number;
  /** Time from the start of the processes to the first 200. */
  readonly secondsToFirstResponse: number;
}

export interface ProductParts {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly keyPeppers: string;
  /** An API key of the first brand. */
  readonly key: string;
  readonly start: (program: ProgramOptions) => Program;
  /** Settings of all its processes that are not the default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whose programs they are. Default: this checkout. */
  readonly checkout?: Pick<Build, "folder">;
}

/** Starts the product's processes, with default settings but for `env`, logging to files. */
export async function startProduct(parts: ProductParts): Promise<Product> {
  const { databaseUrl, redisUrl, keyPeppers, key, start, env: settings = {}, checkout = { folder: ROOT } } = parts;
  const [accountsPort, recordsPort, port] = [await freePort(), await freePort(), await freePort()];
  const [ACCOUNTS_ADDRESS, RECORDS_ADDRESS] = [`127.0.0.1:${accountsPort}`, `127.0.0.1:${recordsPort}`];
  const common = { REDIS_URL: redisUrl, STOP_GRACE_MS: "0", ...settings };
  const database = { DATABASE_URL: databaseUrl, DATABASE_CONNECTIONS_MAX: String(POOL_SIZE) };
  const env = {
    accounts: { ...common, ...database, RPC_PORT: String(accountsPort), KEY_PEPPERS: keyPeppers },
    records: { ...common, ...database, RPC_PORT: String(recordsPort) },
    // No plans are prepared here, and the gateway connects only when needed.
    gateway: { ...common, ACCOUNTS_ADDRESS, RECORDS_ADDRESS, PLANS_ADDRESS: ACCOUNTS_ADDRESS, HOST: "127.0.0.1", PORT: String(port) },
  };

  const startedAt = performance.now();
  const gateway = start({ name: "gateway", script: scriptOf(checkout, "gateway"), env: env.gateway });
  const records = start({ name: "records", script: scriptOf(checkout, "records"), env: env.records });
  const accounts = start({ name: "accounts", script: scriptOf(checkout, "accounts"), env: env.accounts });
  const programs = [gateway, records, accounts];
  await Promise.race([untilServed(port, key), ...programs.map((program) => program.ended)]);
  const secondsToFirstResponse = (performance.now() - startedAt) / 1_000;
  await Promise.all(programs.map((program) => program.ready));
  return { programs, gateway, records, recordsAddress: RECORDS_ADDRESS, port, secondsToFirstResponse };
}

/** Resolves at the first 200. Refused connections and errors are expected until then. */
async function untilServed(port: number, key: string): Promise<void> {
  const deadline = performance.now() + START_SECONDS_MAX * 1_000;
  for (;;) {
    const outcome = await requestPage(port, key).catch(String);
    if (outcome === 200) return;
    if (performance.now() >= deadline) throw new Error(`the product is not ready after ${START_SECONDS_MAX} s: ${outcome}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function requestPage(port: number, key: string): Promise<number> {
  const connection = await HttpConnection.open(port);
  try {
    const { status } = await connection.send(DIALECTS.product.request({ brand: 0, cursor: undefined }, key));
    return status;
  } finally {
    connection.close();
  }
}
