import { streamOf } from "../random.ts";
import type { BrandSizes } from "../sizes.ts";
import { CATALOGS, type Catalog } from "../vocabulary.ts";

export interface BrandOptions {
  readonly brandId: string;
  /** Another number makes another history. */
  readonly seed: number;
  /** End of the generated year, in milliseconds since the epoch. */
  readonly now: number;
  readonly sizes: BrandSizes;
}

/** The inputs of every plan. */
export interface Context {
  readonly now: number;
  readonly sizes: BrandSizes;
  /** Selected by the brand's id. */
  readonly catalog: Catalog;
  /** Returns the random stream of a purpose, for this brand and seed. */
  stream(purpose: string): number;
}

export function contextOf({ brandId, seed, now, sizes }: BrandOptions): Context {
  const catalog = CATALOGS[streamOf(brandId) % CATALOGS.length] as Catalog;
  return { now, sizes, catalog, stream: (purpose) => streamOf(`${brandId} ${seed} ${purpose}`) };
}
