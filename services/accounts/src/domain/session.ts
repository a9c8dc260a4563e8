import { hash, randomBytes } from "node:crypto";
import { AppError } from "@brand-records/errors";
import type { Session as Message } from "@brand-records/proto/accounts/v1";
import type { RowOf } from "@brand-records/proto/rows";

const TOKEN_BYTES = 32;

/** A bearer token of a session or a sign-in link, and the hash under which it is stored. */
interface NewToken {
  /** 43 characters of base64url. Given out once and never stored. */
  readonly token: string;
  readonly tokenHash: Buffer;
}

export function newToken(): NewToken {
  const bytes = randomBytes(TOKEN_BYTES);
  return { token: bytes.toString("base64url"), tokenHash: hash("sha256", bytes, "buffer") };
}

/** Names a session in a grant by the hash of its token, which opens nothing. */
export const sessionInGrant = (token: string): string => (tokenHashOf(token) ?? Buffer.alloc(0)).toString("base64url");
export const hashInGrant = (session: string): Buffer => Buffer.from(session, "base64url");

/** Returns the hash of a token; undefined for a text that cannot be one. A token has one spelling. */
export function tokenHashOf(token: string): Buffer | undefined {
  const bytes = Buffer.from(token, "base64url");
  return bytes.length === TOKEN_BYTES && bytes.toString("base64url") === token ? hash("sha256", bytes, "buffer") : undefined;
}

/** A signed-in person. */
export type Session = RowOf<Message>;

export interface SessionLimits {
  /** A session ends if it is not used for this long. */
  readonly idleSeconds: number;
  /** A session ends after this time, used or not. */
  readonly maxSeconds: number;
}

const TOUCH_SECONDS = 60;

/** Uses within this time are written once. Shorter for short sessions, so that the last use is never far off. */
export const touchSeconds = ({ idleSeconds }: SessionLimits): number => Math.min(TOUCH_SECONDS, idleSeconds / 4);

/** One error for unknown, ended and expired sessions and for people without a membership, so that it reveals nothing. */
export const invalidSession = (): AppError => new AppError("invalid_session", "You are signed out. Sign in again.");
