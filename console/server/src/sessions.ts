import type { Output } from "@brand-records/console-contract";
import { AppError } from "@brand-records/errors";
import type { Client } from "@brand-records/proto/accounts/v1";
import type { CallContext } from "@brand-records/rpc";
import type { Services } from "./services.ts";

/** A signed-in person, with memberships as they are at this call: removing a member takes effect with the next one. */
export interface Person {
  readonly email: string;
  readonly issuer: string | null;
  readonly ends_at: string;
  readonly memberships: Output<"session.me">["memberships"];
  readonly limited_to: string | null;
  /** The owner whose link opened the session, which is then limited to one brand. */
  readonly via: string | null;
}

/** A person, and what proves to each service that a call is made in the session. */
export interface Admitted {
  readonly person: Person;
  readonly grants: Readonly<Record<string, string>>;
}

/** The browser's session, and a call in which it may change. */
export interface BrowserSession {
  readonly call: CallContext;
  client(): Client;
  /** Undefined without a session. */
  readonly sessionToken: string | undefined;
  /** Sets the session's cookie. */
  startSession(token: string): void;
}

export const signedOut = (): AppError => new AppError("invalid_session", "You are signed out. Sign in again.");

/**
 * @param brandId that the call names, if any: the grants are for it, if the person is a member. They say from where the person calls
 * @throws AppError `invalid_session`
 */
export async function readSession(
  { sessions }: Services,
  token: string,
  brandId: string | undefined,
  { call, client }: Pick<BrowserSession, "call" | "client">,
): Promise<Admitted> {
  const asked = { token, with_grants: true, brand_id: brandId ?? null, client: client() };
  const { session, memberships, grants } = await sessions.getSession(asked, call);
  if (session == null) throw new Error("getSession returned no session");
  const person: Person = {
    email: session.email,
    issuer: session.issuer ?? null,
    ends_at: session.ends_at,
    memberships: memberships.map((membership) => ({ ...membership, role: membership.role === "owner" ? "owner" : "member" })),
    limited_to: session.brand_id ?? null,
    via: session.made_by ?? null,
  };
  return { person, grants };
}

/**
 * Gives the browser a session in place of its earlier one. That one ends first: the browser forgets it, so no one could end it any more.
 */
export async function replaceSession(
  { sessions }: Services,
  { call, client, sessionToken, startSession }: BrowserSession,
  token: string,
): Promise<void> {
  if (sessionToken !== undefined) await sessions.endSession({ token: sessionToken, client: client() }, call);
  startSession(token);
}
