import { streamOf } from "../random.ts";
import type { BrandSizes } from "../sizes.ts";
import { CATALOGS, type Catalog } from "../vocabulary.ts";

export interface BrandOptions {
  readonly brandId: string;
  /** Another number makes another history. */
  readonly seed: number;
  /** Milliseconds since the epoch. The year before it is what gets generated. */
  readonly now: number;
  readonly sizes: BrandSizes;
}

/** What every plan is made from. */
export interface Context {
  readonly now: number;
  readonly sizes: BrandSizes;
  /** What the brand sells; its id decides. */
  readonly catalog: Catalog;
  /** A stream of chance for each purpose, of this brand and seed alone. */
  stream(purpose: string): number;
}

export function contextOf({ brandId, seed, now, sizes }: BrandOptions): Context {
  const catalog = CATALOGS[streamOf(brandId) % CATALOGS.length] as Catalog;
  return { now, sizes, catalog, stream: (purpose) => streamOf(`${brandId} ${seed} ${purpose}`) };
}
