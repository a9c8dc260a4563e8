/** Id of the element of a page that holds its first reads as JSON. */
export const FIRST_READS_ID = "first-reads";

/** Cookie with the id of the brand that the browser showed last, so that the server reads that one first. */
export const BRAND_COOKIE = "brand";

/**
 * What the page would read first, read by the server with the page itself: the input of an operation and its output, or those of `range-reads`.
 */
export interface FirstRead {
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
}
