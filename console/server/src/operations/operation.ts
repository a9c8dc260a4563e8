import type { Message, OPERATIONS, OperationName, ParsedInput } from "@brand-records/console-contract";
import type { ConsoleConfig } from "../config.ts";
import type { RequestContext } from "../http/request-context.ts";
import type { Services } from "../services.ts";
import type { BrowserSession, Person } from "../sessions.ts";
import type { SignInProvider } from "../sign-in/provider.ts";

/** Who calls an operation that needs no session, and from where. */
export interface Visitor extends BrowserSession {
  readonly call: RequestContext;
  readonly config: ConsoleConfig;
  /** Undefined if none is configured. */
  readonly provider: Pick<SignInProvider, "name"> | undefined;
  /** Deletes the session's cookie. */
  endSession(): void;
  /** Returns where the browser goes to sign out at the provider, if the session began there. */
  providerSignOutLocation(sessionToken: string): Promise<string | null>;
}

export interface SignedIn extends Visitor {
  readonly person: Person;
}

/** A member of the brand that the input names. */
export interface InBrand extends SignedIn {
  readonly brand: Person["memberships"][number];
}

type NeedsOf<Name extends OperationName> = (typeof OPERATIONS)[Name]["needs"];
type CallerOf<Name extends OperationName> = NeedsOf<Name> extends "anyone" ? Visitor : NeedsOf<Name> extends "session" ? SignedIn : InBrand;

/** Implements an operation of the contract for a caller with what the operation needs. */
export type Handler<Name extends OperationName> = (
  services: Services,
  caller: CallerOf<Name>,
  input: ParsedInput<Name>,
) => Promise<Message<Name>>;

/** What implements an operation: a handler, unless it is a method of a service. */
type Composed = { [Name in OperationName]: "method" extends keyof (typeof OPERATIONS)[Name] ? never : Name }[OperationName];

export type Handlers = { readonly [Name in Composed]: Handler<Name> };
