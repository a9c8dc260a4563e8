import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { type Build, type Program, type ProgramOptions, ROOT, scriptOf } from "../harness/programs.ts";
import { DIALECTS } from "./load/dialects.ts";
import { HttpConnection } from "./load/http-connection.ts";
import type { VariantName } from "./load/start-load.ts";
import { POOL_SIZE } from "./settings.ts";

export interface Variant {
  readonly name: VariantName;
  /** The processes that serve it. Variants may share some. */
  readonly programs: readonly Program[];
  /** Port of the public HTTP server. */
  readonly port: number;
}

export interface Variants {
  readonly product: Product;
  /** Sorted by their turns. */
  readonly all: readonly Variant[];
}

type Parts = Pick<ProductParts, "databaseUrl" | "start">;

export async function startVariants(parts: ProductParts): Promise<Variants> {
  const product = await startProduct(parts);
  const all: readonly Variant[] = [
    await startSingle(parts),
    await startBare(parts),
    { ...product, name: "product" },
    { ...product, name: "tool" },
    { ...product, name: "fields" },
    await startSdk(product, parts),
  ];
  return { product, all };
}

/** Starts one process with node:http and pg. */
async function startSingle({ databaseUrl, start }: Parts): Promise<Variant> {
  const single = start({ name: "single", script: baseline("single"), env: { DATABASE_URL: databaseUrl } });
  return { name: "single", programs: [single], port: await portOf(single) };
}

/** Starts bare express, gRPC and pg: the product's two processes without its features. */
async function startBare({ databaseUrl, start }: Parts): Promise<Variant> {
  const records = start({ name: "bare-records", script: baseline("bare-records"), env: { DATABASE_URL: databaseUrl } });
  const RECORDS_ADDRESS = `127.0.0.1:${await portOf(records)}`;
  const edge = start({ name: "bare-edge", script: baseline("bare-edge"), env: { RECORDS_ADDRESS } });
  return { name: "bare", programs: [edge, records], port: await portOf(edge) };
}

/** Starts the official SDK's server in place of the product's gateway, in front of the product's records service. */
async function startSdk(product: Product, { start }: Parts): Promise<Variant> {
  const edge = start({ name: "sdk-edge", script: baseline("sdk"), env: { RECORDS_ADDRESS: product.recordsAddress } });
  return { name: "sdk", programs: [edge, product.records], port: await portOf(edge) };
}

const baseline = (name: string): string => join(import.meta.dirname, "baseline", `${name}.js`);

async function portOf(program: Program): Promise<number> {
  return ((await program.ready) as { port: number }).port;
}

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
  await untilServed(port, key);
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
