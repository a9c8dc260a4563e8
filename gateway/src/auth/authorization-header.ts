import { keyDigest, keyEnvironment, type KeyEnvironment } from "@brand-records/ids";
import { AppError } from "@brand-records/errors";

const PREFIX = "Bearer ";

const missingKey = (): AppError =>
  new AppError(
    "missing_key",
    "Send your brand's API key in the header: Authorization: Bearer <API_KEY>. The word Bearer is case-sensitive.",
  );

/** The same error for every kind of invalid key, so that callers cannot probe which keys exist. */
export const invalidKey = (): AppError =>
  new AppError("invalid_key", "This API key is not valid here: check that it is complete, for this environment, and not revoked.");

/**
 * Returns the SHA-256 of the request's key. Refuses a malformed key without a look-up.
 *
 * @param rawHeaders names and values as received. Node's `headers` keeps only the first of two Authorization headers.
 * @throws AppError `missing_key` or `invalid_key`
 */
export function keyDigestFrom(rawHeaders: readonly string[], environment: KeyEnvironment): Buffer {
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization");
  const [value, ...more] = values;
  if (value === undefined) throw missingKey();
  if (more.length > 0) throw invalidKey();
  if (!value.startsWith(PREFIX)) throw missingKey();
  const key = value.slice(PREFIX.length);
  if (keyEnvironment(key) !== environment) throw invalidKey();
  return keyDigest(key);
}
