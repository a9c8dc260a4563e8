/** How long a grant is valid: longer than a call and what it writes afterwards. */
export const GRANT_SECONDS = 60;

/** The services that take grants. A grant for one proves nothing to another. */
export const GRANT_AUDIENCES = ["accounts", "plans", "webhook"] as const;
export type GrantAudience = (typeof GRANT_AUDIENCES)[number];

/** In which session a call is made, as accounts knew it when it signed the grant. */
export interface Grant {
  /** The person. */
  readonly email: string;
  /** The owner whose link opened the session; null as `limitedTo` is. */
  readonly via: string | null;
  /** The one brand that the session opens; null: every brand of the person. */
  readonly limitedTo: string | null;
  /** SHA-256 of the session's token, in base64url. */
  readonly session: string;
  /** The brand of the call, and what the person is in it; null for a call of none. */
  readonly brand: { readonly id: string; readonly role: "owner" | "member" } | null;
}

/** What the header and the claims of every grant say. */
export const TYPE = "grant+jwt";
export const ALGORITHM = "HS256";
export const ISSUER = "accounts";
