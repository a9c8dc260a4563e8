import type { OPERATIONS, OperationName, ParsedInput } from "@brand-records/console-contract";
import type { Client } from "@brand-records/proto/accounts/v1";
import type { z } from "zod";
import type { Audited } from "../audit.ts";
import type { ConsoleConfig } from "../config.ts";
import type { Services } from "../services.ts";
import type { BrowserSession, Person } from "../sessions.ts";
import type { SignInProvider } from "../sign-in/provider.ts";

/** Who calls an operation that needs no session, and from where. */
export interface Visitor extends BrowserSession {
  readonly address: string;
  /** Returns the address with the browser's family. */
  client(): Client;
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

/** A member of the brand that the input names; an owner if the operation needs one. */
export interface InBrand extends SignedIn {
  readonly brand: Person["memberships"][number];
}

type NeedsOf<Name extends OperationName> = (typeof OPERATIONS)[Name]["needs"];
type CallerOf<Name extends OperationName> = NeedsOf<Name> extends "anyone" ? Visitor : NeedsOf<Name> extends "session" ? SignedIn : InBrand;

/** A service's message, whose words may be those of a later release, and whose records may be absent. Every output is parsed. */
type Sent<Value> = Value extends string
  ? string
  : Value extends readonly (infer Element)[]
    ? readonly Sent<Element>[]
    : Value extends object
      ? string extends keyof Value
        ? object
        : { readonly [Field in keyof Value]: Sent<Value[Field]> | Absent<Value[Field]> }
      : Value;
type Absent<Value> = Value extends readonly unknown[] ? never : Value extends object ? null | undefined : never;

/** Implements an operation of the contract for a caller with what the operation needs. */
export interface Handler<Name extends OperationName> extends Audited<Name> {
  /** Whether a call may guess the token of a sign-in link. Such calls of an address are few. */
  readonly usesLink?: true;
  run(services: Services, caller: CallerOf<Name>, input: ParsedInput<Name>): Promise<Sent<z.input<(typeof OPERATIONS)[Name]["output"]>>>;
}

/** The handlers of the operations whose names begin so. */
export type Handlers<Area extends string> = { readonly [Name in OperationName & `${Area}.${string}`]: Handler<Name> };
