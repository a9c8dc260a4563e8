import { hash, randomBytes } from "node:crypto";

const TOKEN_BYTES = 32;

/** A bearer token of a session or a sign-in link, and the hash under which it is stored. */
export interface NewToken {
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
