import { AppError, ERROR_KINDS, unknownNames } from "@brand-records/errors";
import { requireIntegratingBrand, requirePermission } from "../../auth/principal.ts";
import type { Operation } from "../../operations/operation.ts";
import { errorBody } from "@brand-records/edge";
import { parsedJson } from "@brand-records/resources";
import { jsonForModels } from "./fold-hidden.ts";
import type { Caller } from "./generation.ts";
import { invalidParams, isObject, type RpcParams } from "./json-rpc.ts";

/**
 * Calls a tool and returns the members of its result as JSON text, without the braces. An error that a model can fix or
 * report to its user is a result with `isError`; a failure on our side is thrown, and becomes an HTTP error that clients retry.
 *
 * @throws RpcError if there is no such tool or the params are malformed; AppError if the call failed
 */
export async function callTool(params: RpcParams, caller: Caller): Promise<string> {
  const { name, arguments: given } = params;
  if (typeof name !== "string") throw invalidParams("params.name must be the name of a tool.");
  const operation = caller.toolbox.named(name, caller.principal.permissions);
  if (caller.context.rpc !== undefined) caller.context.rpc.tool = operation.name;
  caller.context.operation = { name: operation.name, via: "assistant" };
  if (given != null && !isObject(given)) throw invalidParams("params.arguments must be an object.");
  try {
    return await successMembers(await run(operation, given ?? {}, caller));
  } catch (thrown) {
    const error = AppError.from(thrown);
    if (ERROR_KINDS[error.kind].http >= 500) throw error;
    caller.context.errorKind = error.kind;
    if (error.field !== undefined) caller.context.errorField = error.field;
    return refusalMembers(errorBody(error, caller.context.requestId));
  }
}

async function run(operation: Operation, given: RpcParams, { services, principal, context }: Caller): Promise<object> {
  requireIntegratingBrand(principal);
  if (operation.permission !== undefined) requirePermission(principal, operation.permission);
  const input = operation.input.parse(argumentsOf(operation, given), "assistant");
  const { body } = await operation.run(services, principal, input, context);
  return body;
}

/**
 * Returns the arguments that an operation parses. Clients and models send null or "" for one they omit, and an array or a number as its JSON
 * text. Under an unknown name these values are refused like any other; of such names only as many are kept as the refusal names.
 */
function argumentsOf({ input }: Operation, given: RpcParams): object {
  const { properties } = input.schema;
  const known = Object.entries(properties).filter(([name]) => Object.hasOwn(given, name) && given[name] !== null && given[name] !== "");
  const unknown = unknownNames(given, (name) => Object.hasOwn(properties, name));
  return Object.fromEntries([
    ...known.map(([name, { type }]) => [name, type === "string" ? given[name] : fromJsonText(given[name])]),
    ...unknown.map((name) => [name, given[name]]),
  ]);
}

/** Only text that is JSON of an array or a number means anything but itself. */
function fromJsonText(value: unknown): unknown {
  const parsed = typeof value === "string" ? parsedJson(value) : undefined;
  return Array.isArray(parsed) || typeof parsed === "number" ? parsed : value;
}

/**
 * The text is the same JSON, with `<` escaped: texts imitate the markup around them. After each 64 KiB others get a turn: ten pages of 15 MB
 * held up another brand for 450 ms.
 */
async function successMembers(body: object): Promise<string> {
  let [text, structured, sinceTurn] = ["", "", 0];
  for (const piece of piecesOf(body)) {
    structured += piece;
    text += JSON.stringify(piece.replaceAll("<", "\\u003c")).slice(1, -1);
    sinceTurn += piece.length;
    if (sinceTurn < TURN_LENGTH) continue;
    sinceTurn = 0;
    await ownTurn();
  }
  return `"content":[{"type":"text","text":"${text}"}],"structuredContent":${structured},"isError":false`;
}

const TURN_LENGTH = 64 * 1024;

/** The JSON text of a result, record by record. */
function* piecesOf(body: { readonly data?: readonly object[] }): Generator<string> {
  const { data, ...page } = body;
  if (data === undefined) return yield jsonForModels(body);
  yield jsonForModels({ ...page, data: [] }).slice(0, -"]}".length);
  for (const [index, record] of data.entries()) yield `${index === 0 ? "" : ","}${jsonForModels(record)}`;
  yield "]}";
}

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller gets, in the order of the calls. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
}

/** No structuredContent: some clients show it instead of the message. */
function refusalMembers(json: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(json)}}],"isError":true`;
}
