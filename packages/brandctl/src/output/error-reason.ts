/** The system's code of an error, such as ENOENT. Errors of Node's own modules are not always instances of our Error. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOTDIR: "what should be a directory is not one",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
  ECONNREFUSED: "nothing listens there",
};

/** Why the system refused, in words. */
export function errorReason(error: unknown): string {
  const known = REASONS[errorCode(error) ?? ""];
  if (known !== undefined) return known;
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}
