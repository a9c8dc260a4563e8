import { AppError } from "@brand-records/errors";

/**
 * Refuses pages of other origins, which a browser may be tricked into sending here (DNS rebinding). Programs send no
 * Origin.
 *
 * @param allowed origins such as `https://app.example`; `http://localhost:*` allows every port
 * @throws AppError `origin_not_allowed`
 */
export function requireAllowedOrigin(allowed: readonly string[], origin: string | undefined): void {
  if (origin === undefined || allowed.includes(origin)) return;
  const anyPort = `${origin.replace(/:\d{1,5}$/, "")}:*`;
  if (allowed.includes(anyPort)) return;
  throw new AppError(
    "origin_not_allowed",
    "Requests of web pages of this origin are not allowed here. Call from a server, without an Origin header.",
  );
}
