import type { AddedPermission } from "@brand-records/ids";
import type { CallContext } from "@brand-records/rpc";
import type { Principal } from "../auth/principal.ts";
import type { Services } from "../services.ts";
import type { DescribedError } from "./errors.ts";
import type { ObjectSchema } from "./json-schema.ts";

/** How an operation is called. */
export type Via = "rest" | "assistant";

/** One operation, declared once: its REST route, its OpenAPI description and its assistant tool derive from this record. */
export interface Operation<Input = unknown> {
  /** The assistant tool's name. In camel case it is the OpenAPI operationId. */
  readonly name: string;
  /** The tool's title, for people. */
  readonly title: string;
  /** The OpenAPI tag. */
  readonly tag: string;
  readonly method: "GET" | "POST";
  /** Matched exactly: not decoded, case-sensitive, no trailing slash. */
  readonly path: string;
  /** The permission a key needs beyond reading. Keys without it do not see the tool. */
  readonly permission?: AddedPermission;
  readonly summary: string;
  /** Text for readers of the OpenAPI description. */
  readonly description: string;
  /** Tells models what the tool does and when to call it. `{today}` stands for Manila's day, `{address}` for the service's address. */
  readonly guide: string;
  readonly input: OperationInput<Input>;
  readonly output: OperationOutput;
  /** Fields of the result, or of its records, that hold texts and URLs which outsiders wrote. */
  readonly untrusted: readonly string[];
  /** The codes a REST request may fail with. */
  readonly errors: readonly DescribedError[];
  /** @throws AppError */
  run(services: Services, principal: Principal, input: Input, context: CallContext): Promise<OperationResult>;
}

/** Where the input of a REST request is and what it may hold. Assistants send the same values as tool arguments. */
export type OperationInput<Input> = QueryInput<Input> | BodyInput<Input>;

interface CheckedInput<Input> {
  /** A flat object. The descriptions of its properties are written for models, and some properties are for them alone. */
  readonly schema: ObjectSchema;
  /** @throws AppError that names every wrong field */
  parse(given: unknown, via: Via): Input;
}

interface QueryInput<Input> extends CheckedInput<Input> {
  readonly from: "query";
  /** The properties that HTTP takes, and what the OpenAPI description says of them. */
  readonly parameters: Readonly<Record<string, { readonly deprecated?: boolean; readonly description: string }>>;
}

interface BodyInput<Input> extends CheckedInput<Input> {
  readonly from: "body";
  /** The schema's name among the OpenAPI components. */
  readonly component: string;
  readonly example: object;
}

export interface OperationOutput {
  /** The schema's name among the OpenAPI components. */
  readonly component: string;
  /** Array items that have a title become components of their own. */
  readonly schema: ObjectSchema;
  readonly example: object;
  /** Keys are HTTP statuses. `headers` are those beyond the headers of every response. */
  readonly responses: Readonly<Record<number, { readonly description: string; readonly headers?: object }>>;
}

export interface OperationResult {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}
