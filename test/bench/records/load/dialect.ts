import type { VariantName } from "./messages.ts";

export interface PageAsked {
  readonly brand: number;
  readonly cursor: string | undefined;
}

/** How a page is asked for, and where it is in the answer. */
export interface Dialect {
  /** @returns the HTTP request, as it is sent */
  readonly request: (asked: PageAsked, key: string) => string;
  /**
   * The page in the body of an answer, as JSON text. Found without parsing, which would cost the generator more than
   * sending does.
   *
   * @throws Error if there is none
   */
  readonly pageIn: (body: string) => string;
  /** Every copy of the page in the body, as JSON text. For comparing answers: it takes its time. */
  readonly copiesIn: (body: string) => readonly string[];
}

export type Dialects = Readonly<Record<VariantName, Dialect>>;
