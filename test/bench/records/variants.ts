import { join } from "node:path";
import type { VariantName } from "./load/messages.ts";
import { startProduct, type Product, type ProductParts } from "./product.ts";
import type { Program } from "../program.ts";

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

/** @param more includes the variants without a target */
export async function startVariants(parts: ProductParts, { more }: { more: boolean }): Promise<Variants> {
  const product = await startProduct(parts);
  const all: Variant[] = [
    await startSingle(parts),
    await startBare(parts),
    { ...product, name: "product" },
    { ...product, name: "tool" },
    await startEdge("sdk", product, parts),
  ];
  if (more) {
    all.push({ ...product, name: "legacy" }, await startEdge("endpoint", product, parts), await startEdge("sdk_1", product, parts));
  }
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

const EDGES = { sdk: "sdk", endpoint: "endpoint", sdk_1: "sdk-1" } as const;

/** Starts another implementation of the tool in place of the product's gateway, in front of the product's records service. */
async function startEdge(name: keyof typeof EDGES, product: Product, { start }: Parts): Promise<Variant> {
  const script = EDGES[name];
  const edge = start({ name: `${script}-edge`, script: baseline(script), env: { RECORDS_ADDRESS: product.recordsAddress } });
  return { name, programs: [edge, product.records], port: await portOf(edge) };
}

const baseline = (name: string): string => join(import.meta.dirname, "baseline", `${name}.js`);

async function portOf(program: Program): Promise<number> {
  return ((await program.ready) as { port: number }).port;
}
