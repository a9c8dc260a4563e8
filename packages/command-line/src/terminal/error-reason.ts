/** Returns the system's code of an error, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOTDIR: "part of the path is not a directory",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
  ECONNREFUSED: "nothing listens there",
};

/** Returns the reason of a system error as text. */
export function errorReason(error: unknown): string {
  const known = REASONS[errorCode(error) ?? ""];
  if (known !== undefined) return known;
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}
