import { AppError } from "@brand-records/errors";

export const LINK_TTL_SECONDS = { default: 15 * 60, min: 60, max: 24 * 60 * 60 } as const;

/** What an owner's link opens: one brand, as long as the maker is an owner of it. */
export interface LinkScope {
  readonly brandId: string;
  /** E-mail address of the owner. */
  readonly madeBy: string;
}

export interface SignInLink {
  readonly email: string;
  readonly expires_at: string;
  /** Null: the operator's, which opens every brand of the person. */
  readonly scope: LinkScope | null;
  readonly brand_name: string | null;
  readonly is_used: boolean;
  readonly is_expired: boolean;
}

/** @throws AppError `sign_in_link_unknown`, `sign_in_link_used` or `sign_in_link_expired` */
export function requireUsable(link: SignInLink | undefined): SignInLink {
  if (link === undefined) throw new AppError("sign_in_link_unknown", "This sign-in link is not known. Ask for a new one.");
  if (link.is_used) throw new AppError("sign_in_link_used", "This sign-in link was used already. Ask for a new one.");
  if (link.is_expired) throw new AppError("sign_in_link_expired", "This sign-in link has expired. Ask for a new one.");
  return link;
}

/** An account at an OpenID provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** An ID token that signs someone in, which it may do once. */
export interface IdTokenUse {
  /** SHA-256 of what the provider has signed. */
  readonly hash: Buffer;
  /** No process accepts the token from then on. */
  readonly expiresAt: Date;
}

/** A check that an ID token does not pass, as the log names it. */
export type IdTokenCheck =
  | "absent"
  | "form"
  | "algorithm"
  | "key"
  | "signature"
  | "issuer"
  | "audience"
  | "azp"
  | "nonce"
  | "expired"
  | "not yet valid"
  | "older than 10 minutes"
  | "missing claim"
  | "used before"
  | "userinfo";

/** An ID token is refused. Says which check failed, and nothing that the token holds. */
export class IdTokenRefused extends AppError {
  readonly check: IdTokenCheck;

  constructor(check: IdTokenCheck, options?: ErrorOptions) {
    super("invalid_id_token", `The ID token is refused: ${check}. Sign in again.`, options);
    this.check = check;
  }
}

/** What the provider says about the address, as received. */
export interface EmailClaims {
  readonly email: string | null | undefined;
  readonly emailVerified: boolean | null | undefined;
  /** An absent `emailVerified` counts as true. */
  readonly trustEmail: boolean;
}

/**
 * Returns the address that an unbound identity may be bound to, as received.
 *
 * @throws AppError `email_not_verified`, before any look-up: an unverified address reveals nothing about members
 */
export function verifiedEmail({ email, emailVerified, trustEmail }: EmailClaims): string {
  if (email && (emailVerified ?? trustEmail)) return email;
  throw new AppError(
    "email_not_verified",
    "The sign-in provider has not verified your e-mail address. Verify it there, then sign in again.",
  );
}

export const notAMember = (email: string): AppError =>
  new AppError("no_membership", `${email} is not a member of this brand. Add the person first.`, { field: "email" });

/** Links made in it would open the brand even after the owner, whose link opened the session, was removed. */
export const limitedSession = (): AppError =>
  new AppError("limited_session", "A session that an owner’s link opened makes no links. Another owner can make it, or the operator.");

export const ownAddress = (): AppError =>
  new AppError("invalid_request", "A link for your own address can be made by another owner, or the operator.", { field: "email" });

export const noMembership = (): AppError =>
  new AppError("no_membership", "This e-mail address is not a member of any brand. Ask an owner of your brand to add it.", {
    field: "email",
  });

export const identityConflict = (): AppError =>
  new AppError("identity_conflict", "Another account of this sign-in provider belongs to this e-mail address. Sign in with that account.");
