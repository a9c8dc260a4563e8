import { AppError } from "@brand-records/errors";

/** A signed-in person. */
export interface Session {
  readonly email: string;
  readonly issuer: string | null;
  /** The one brand that the session opens; null: every brand of the person. */
  readonly brand_id: string | null;
  /** E-mail address of the owner whose link opened the session; null as `brand_id` is. */
  readonly made_by: string | null;
  readonly created_at: string;
  readonly idle_ends_at: string;
  readonly ends_at: string;
}

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
