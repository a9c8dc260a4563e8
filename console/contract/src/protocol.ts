/**
 * Field of the body of a call that changes something, beside its operation's input: the e-mail address of the person whom the page shows.
 * Another one may have signed in in another tab, with which all tabs share the session, and would be recorded as who made the change. The
 * server then refuses with `other_person`.
 */
export const PERSON_FIELD = "person";

/** Response header of a call that names a brand: the role that its person has in the brand at that moment, `owner` or `member`. */
export const ROLE_HEADER = "x-console-role";

/**
 * What a console says of an operation that it, or a service of an earlier release, does not have: all releases in the same words, by which a
 * newer page recognises it.
 */
export const NO_SUCH_OPERATION = "The console has no such operation. Reload the page.";

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
