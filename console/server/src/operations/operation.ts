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

export type Handlers = { readonly [Name in OperationName]: Handler<Name> };

type Clients = Omit<Services, "connected" | "stop">;

/** The request and the response of a method. */
type Method<Client extends keyof Clients, Name extends keyof Clients[Client]> = Clients[Client][Name] extends (
  request: infer In,
  call: never,
) => Promise<infer Out>
  ? { readonly in: In; readonly some: { readonly [Field in keyof In]?: In[Field] | undefined }; readonly out: Out }
  : never;

/**
 * Passes an operation on to a method of a service whose request has the names of its input. Who acts is not sent: the grant says it.
 *
 * @param fixed what the request has beside the input, or where the input has nothing
 */
export const to =
  <Client extends keyof Clients, Name extends keyof Clients[Client], const Fixed extends object = object>(
    client: Client,
    name: Name,
    fixed?: Fixed & Method<Client, Name>["some"],
  ) =>
  (
    services: Services,
    { call }: Visitor,
    input: Omit<Method<Client, Name>["in"], keyof Fixed> & Method<Client, Name>["some"],
  ): Promise<Method<Client, Name>["out"]> => {
    const method = services[client][name] as (request: object, call: Visitor["call"]) => Promise<Method<Client, Name>["out"]>;
    return method({ ...fixed, ...input }, call);
  };
