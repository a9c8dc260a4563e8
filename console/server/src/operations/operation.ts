import type { OperationName, OPERATIONS, Output, ParsedInput } from "@brand-records/console-contract";
import type { CallContext } from "@brand-records/rpc";
import type { ConsoleConfig } from "../config.ts";
import type { Services } from "../services.ts";
import type { Person } from "../sessions.ts";
import type { SignInProvider } from "../sign-in/provider.ts";

/** Who calls an operation that needs no session, and from where. */
export interface Visitor {
  readonly call: CallContext;
  readonly address: string;
  readonly config: ConsoleConfig;
  /** Undefined if none is configured. */
  readonly provider: Pick<SignInProvider, "name"> | undefined;
  readonly sessionToken: string | undefined;
  /** Sets the session's cookie. */
  startSession(token: string): void;
  /** Deletes the session's cookie. */
  endSession(): void;
  /** Returns where the browser goes to sign out at the provider, if the session began there. */
  providerSignOutLocation(sessionToken: string): Promise<string | null>;
}

export interface SignedIn extends Visitor {
  readonly person: Person;
}

/** A member of the brand that the input names; an owner if the operation needs one. */
export interface InBrand extends SignedIn {
  readonly brand: Person["memberships"][number];
}

type CallerOf<Name extends OperationName> = {
  anyone: Visitor;
  session: SignedIn;
  member: InBrand;
  owner: InBrand;
}[(typeof OPERATIONS)[Name]["needs"]];

/** What the audit log says about an operation that changes something: names and ids, never values. */
export interface Audit<Name extends OperationName> {
  readonly action: string;
  /** The id of what is changed. */
  subject?(input: ParsedInput<Name>): string;
  /** The id of what was created. */
  created?(output: Output<Name>): string;
  fields?(input: ParsedInput<Name>): string[];
}

/** Implements an operation of the contract. */
export interface Handler<Name extends OperationName> {
  /** Required of every operation that changes something of a brand. */
  readonly audit?: Audit<Name>;
  run(services: Services, caller: CallerOf<Name>, input: ParsedInput<Name>): Promise<Output<Name>>;
}
