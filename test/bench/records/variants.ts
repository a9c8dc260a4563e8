import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { HttpConnection } from "./load/http-connection.ts";
import { pathOf } from "./load/load-generator.ts";
import type { VariantName } from "./load/messages.ts";
import { ROOT, type Program, type ProgramOptions } from "./program.ts";
import { POOL_SIZE } from "./settings.ts";

const START_SECONDS_MAX = 30;
const RETRY_MS = 5;

export interface Variant {
  readonly name: VariantName;
  readonly programs: readonly Program[];
  /** Of the public HTTP server. */
  readonly port: number;
}

export interface VariantParts {
  readonly databaseUrl: string;
  start(program: ProgramOptions): Program;
}

/** (a) One process, node:http and pg. */
export async function startSingle({ databaseUrl, start }: VariantParts): Promise<Variant> {
  const single = start({ name: "single", script: baseline("single"), env: { DATABASE_URL: databaseUrl } });
  return { name: "single", programs: [single], port: await portOf(single) };
}

/** (b) Bare express, gRPC, pg: the product's two processes without its features. */
export async function startBare({ databaseUrl, start }: VariantParts): Promise<Variant> {
  const records = start({ name: "bare-records", script: baseline("bare-records"), env: { DATABASE_URL: databaseUrl } });
  const RECORDS_ADDRESS = `127.0.0.1:${await portOf(records)}`;
  const edge = start({ name: "bare-edge", script: baseline("bare-edge"), env: { RECORDS_ADDRESS } });
  return { name: "bare", programs: [edge, records], port: await portOf(edge) };
}

export interface Product extends Variant {
  readonly recordsAddress: string;
  /** From starting the processes, all at once, to the first 200. */
  readonly secondsToFirstAnswer: number;
}

export interface ProductParts extends VariantParts {
  readonly redisUrl: string;
  readonly keyPeppers: string;
  /** The first brand's. */
  readonly key: string;
}

/** (c) The real processes with the settings they have by default, logging to files. */
export async function startProduct({ databaseUrl, redisUrl, keyPeppers, key, start }: ProductParts): Promise<Product> {
  const [accountsPort, recordsPort, port] = [await freePort(), await freePort(), await freePort()];
  const [ACCOUNTS_ADDRESS, RECORDS_ADDRESS] = [`127.0.0.1:${accountsPort}`, `127.0.0.1:${recordsPort}`];
  const main = (directory: string): string => join(ROOT, directory, "dist/main.js");
  const common = { REDIS_URL: redisUrl, STOP_GRACE_MS: "0" };
  const database = { DATABASE_URL: databaseUrl, DATABASE_CONNECTIONS_MAX: String(POOL_SIZE) };
  const env = {
    accounts: { ...common, ...database, RPC_PORT: String(accountsPort), KEY_PEPPERS: keyPeppers },
    records: { ...common, ...database, RPC_PORT: String(recordsPort) },
    gateway: { ...common, ACCOUNTS_ADDRESS, RECORDS_ADDRESS, HOST: "127.0.0.1", PORT: String(port) },
  };

  const startedAt = performance.now();
  const programs = [
    start({ name: "gateway", script: main("gateway"), env: env.gateway }),
    start({ name: "records", script: main("services/records"), env: env.records }),
    start({ name: "accounts", script: main("services/accounts"), env: env.accounts }),
  ];
  await Promise.race([untilAnswered(port, key), ...programs.map((program) => program.ended)]);
  const secondsToFirstAnswer = (performance.now() - startedAt) / 1_000;
  await Promise.all(programs.map((program) => program.ready));
  return { name: "product", programs, port, recordsAddress: RECORDS_ADDRESS, secondsToFirstAnswer };
}

/** Until all processes are up, refused connections and errors are expected. */
async function untilAnswered(port: number, key: string): Promise<void> {
  const deadline = performance.now() + START_SECONDS_MAX * 1_000;
  for (;;) {
    const said = await ask(port, key).catch(String);
    if (said === 200) return;
    if (performance.now() >= deadline) throw new Error(`the product does not answer after ${START_SECONDS_MAX} s, but says: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function ask(port: number, key: string): Promise<number> {
  const connection = await HttpConnection.open(port);
  try {
    const { status } = await connection.get(pathOf("product", { brand: 0, cursor: undefined }), `Bearer ${key}`);
    return status;
  } finally {
    connection.close();
  }
}

const baseline = (name: string): string => join(import.meta.dirname, "baseline", `${name}.js`);

async function portOf(program: Program): Promise<number> {
  return ((await program.ready) as { port: number }).port;
}
