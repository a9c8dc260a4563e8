import type * as accounts from "@brand-records/proto/messages/accounts";
import type * as plans from "@brand-records/proto/messages/plans";
import type * as webhook from "@brand-records/proto/messages/webhook";
import { z } from "zod";

/**
 * Who may call an operation:
 * - `anyone`: without a session; for signing in only
 * - `session`: a signed-in person
 * - `member`: a member of the brand that the input names as `brand_id`; to everyone else the brand does not exist. What only owners may do,
 *   the service's method says: it refuses, and records that it did.
 */
type Needs = "anyone" | "session" | "member";

export const DELIVERY_STATES = ["pending", "sending", "held", "delivered", "failed"] as const;
export const PLAN_STATES = ["pending", "completed", "cancelled"] as const;
export const ROLES = ["owner", "member"] as const;

/** What a field of these names says, in every message that has it. */
interface Words {
  state: (typeof DELIVERY_STATES)[number];
  status: (typeof PLAN_STATES)[number];
  role: (typeof ROLES)[number];
}

/** A message as JSON: a field that it leaves out is null, and bytes are text, in which what is not UTF-8 is replaced. */
type Shown<Value> = Value extends undefined
  ? null
  : Value extends Uint8Array
    ? string
    : Value extends readonly (infer Element)[]
      ? Shown<Element>[]
      : Value extends object
        ? { [Field in keyof Value]-?: Field extends keyof Words ? Words[Field] | Extract<Shown<Value[Field]>, null> : Shown<Value[Field]> }
        : Value;

/** A message in which these records are never absent. */
type With<Message, Records extends keyof Message> = Omit<Message, Records> & { [Name in Records]-?: NonNullable<Message[Name]> };

/** The services of which operations are methods, by the names of the server's clients. */
interface Services {
  accounts: accounts.AccountsService;
  audit: accounts.AuditService;
  usage: accounts.UsageService;
  receivers: webhook.ReceiversService;
  deliveries: webhook.DeliveriesService;
  events: webhook.EventsService;
  plans: plans.PlansService;
}
/** Methods whose request names the brand: of any other, the input's would be left out. */
type OfBrand<Service> = {
  [Name in keyof Service & string]: Service[Name] extends (request: infer Request) => unknown
    ? "brand_id" extends keyof Request
      ? Name
      : never
    : never;
}[keyof Service & string];
type MethodName = { [Service in keyof Services]: `${Service}.${OfBrand<Services[Service]>}` }[keyof Services];
type MethodOf<Name> = Name extends `${infer Service extends keyof Services}.${infer Method}`
  ? Services[Service][Method & keyof Services[Service]]
  : never;
type RequestOf<Name> = MethodOf<Name> extends (request: infer Request) => unknown ? Request : never;
type ResponseOf<Name> = MethodOf<Name> extends (request: never) => Promise<infer Response> ? Response : never;
/** The fields of a request, of which an input may have any. */
type FieldsOf<Request> = { readonly [Field in keyof Request]?: z.ZodType<Request[Field] | undefined> };

/** A response has no schema: services send the people of a brand no more than they may see. */
export interface Operation<Who extends Needs, In extends z.ZodRawShape, Message, Records extends keyof Message> {
  readonly needs: Who;
  /** Unknown fields are refused. Services check what fields say, and name every problem. */
  readonly input: z.ZodObject<In, z.core.$strict>;
  /** What a service sends, and what a page gets. For the compiler alone. */
  readonly message?: Message;
  readonly output?: Shown<With<Message, Records>>;
}

const operation = <const Who extends Needs, In extends z.ZodRawShape>(needs: Who, input: In) => ({
  returns: <Message, Records extends keyof Message = never>(): Operation<Who, In, Message, Records> => ({
    needs,
    input: z.strictObject(input),
  }),
});

export const anyone = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("anyone", input);
export const session = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("session", input);

/** Ids of our own records; `prefix_` and 1 to 40 lower-case letters or digits. */
export const id = (prefixes: string) =>
  z.string().regex(new RegExp(`^(?:${prefixes})_[0-9a-z]{1,40}$`), `must be an id that starts with ${prefixes.replaceAll("|", ", ")}_`);

export const optional = <Fields extends z.ZodRawShape>(fields: Fields) => z.object(fields).partial().shape;

/** What every operation of a brand's member names. Links name no brand: the page asks `locate`. */
const ofBrand = { brand_id: id("brd") };

export const member = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("member", { ...ofBrand, ...input });

/** An operation that is a method of a service: its input is the request, its output the response, in which `records` are never absent. */
export const method = <
  Name extends MethodName,
  const In extends FieldsOf<RequestOf<Name>> = {},
  Records extends keyof ResponseOf<Name> = never,
>(
  name: Name,
  input: In & Record<Exclude<keyof In, keyof RequestOf<Name>>, never> = {} as never,
  ..._records: Records[]
): Operation<"member", typeof ofBrand & In, ResponseOf<Name>, Records> & { readonly method: string } => ({
  needs: "member",
  input: z.strictObject({ ...ofBrand, ...input }),
  method: name,
});
