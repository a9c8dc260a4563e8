import { OPERATIONS, type OperationName, type Output, type ParsedInput } from "@brand-records/console-contract";
import { parseRequest } from "@brand-records/errors";
import type { Client } from "@brand-records/proto/accounts/v1";
import { runAudited, type Audited, type AuditDependencies } from "../audit.ts";
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
type NameNeeding<Needs> = { [Name in OperationName]: NeedsOf<Name> extends Needs ? Name : never }[OperationName];

/** Implements an operation of the contract for a caller with what the operation needs. */
interface Runs<Name extends OperationName, Caller> {
  run(services: Services, caller: Caller, input: ParsedInput<Name>): Promise<Output<Name>>;
}

/** Implements an operation that needs no session. */
export interface VisitorHandler<Name extends NameNeeding<"anyone">> extends Runs<Name, Visitor> {
  /** Whether a call may guess the token of a sign-in link. Such calls of an address are few. */
  readonly usesLink?: true;
}

/** Implements an operation of a signed-in person. */
export type SessionHandler<Name extends NameNeeding<"session">> = Runs<Name, SignedIn>;

/** Implements an operation of a brand. One that changes something has `audit`. */
export type BrandHandler<Name extends NameNeeding<"member" | "owner">> = Runs<Name, InBrand> & Audited<Name>;

interface ServedToVisitor {
  readonly needs: "anyone";
  readonly usesLink: boolean;
  readonly serve: Serve<Visitor>;
}
interface ServedToPerson {
  readonly needs: "session";
  readonly serve: Serve<SignedIn>;
}
interface ServedInBrand {
  readonly needs: "member" | "owner";
  readonly serve: Serve<InBrand>;
}

/** An operation as calls of it are served: each takes the caller that it needs, and a parsed body of any shape. */
export type ServedOperation = ServedToVisitor | ServedToPerson | ServedInBrand;

/** @throws AppError `invalid_request` with every problem of the body */
type Serve<Caller> = (deps: AuditDependencies, caller: Caller, body: unknown) => Promise<unknown>;

/** The compiler does not relate the schema of a name that it does not know to the type that it infers from it: the casts of this file. */
const parseInput = <Name extends OperationName>(name: Name, body: unknown): ParsedInput<Name> =>
  parseRequest(OPERATIONS[name].input, body ?? {}) as ParsedInput<Name>;

/** Fields that the contract does not list are removed. */
const shownOf = <Name extends OperationName>(name: Name, output: Output<Name>): Output<Name> =>
  OPERATIONS[name].output.parse(output) as Output<Name>;

export const ofVisitor = <Name extends NameNeeding<"anyone">>(name: Name, handler: VisitorHandler<Name>): ServedToVisitor => ({
  needs: "anyone",
  usesLink: handler.usesLink === true,
  serve: async ({ services }, caller, body) => shownOf(name, await handler.run(services, caller, parseInput(name, body))),
});

export const ofPerson = <Name extends NameNeeding<"session">>(name: Name, handler: SessionHandler<Name>): ServedToPerson => ({
  needs: "session",
  serve: async ({ services }, caller, body) => shownOf(name, await handler.run(services, caller, parseInput(name, body))),
});

export const inBrand = <Name extends NameNeeding<"member" | "owner">>(name: Name, handler: BrandHandler<Name>): ServedInBrand => ({
  needs: OPERATIONS[name].needs,
  serve: async (deps, caller, body) => {
    const input = parseInput(name, body);
    return shownOf(name, await runAudited(deps, handler.audit, caller, input, () => handler.run(deps.services, caller, input)));
  },
});

/** An operation that reads, and that the server calls itself for a page that it sends. */
export interface FirstReader<Caller, Read = unknown> {
  readonly name: OperationName;
  /** The operation's, or what the page's script has in place of it in the key of its query. */
  readonly input: unknown;
  run(services: Services, caller: Caller): Promise<Read>;
}

export const readOf = <Name extends OperationName, Caller>(
  name: Name,
  handler: Runs<Name, Caller>,
  input: unknown,
): FirstReader<Caller, Output<Name>> => ({
  name,
  input,
  run: async (services, caller) => shownOf(name, await handler.run(services, caller, parseInput(name, input))),
});
