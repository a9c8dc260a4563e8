import type { VariantName } from "./messages.ts";

export interface PageRequest {
  readonly brand: number;
  readonly cursor: string | undefined;
}

/** How to request a page, and where the response contains it. */
export interface Dialect {
  /** Returns the bytes of the HTTP request. */
  readonly request: (page: PageRequest, key: string) => string;
  /**
   * Returns the page in a response's body, as JSON text. Does not parse it: that would cost the generator more than sending.
   *
   * @throws Error without a page
   */
  readonly pageIn: (body: string) => string;
  /** Returns every copy of the page in the body, as JSON text. Slow: only for comparing responses. */
  readonly copiesIn: (body: string) => readonly string[];
}

export type Dialects = Readonly<Record<VariantName, Dialect>>;
