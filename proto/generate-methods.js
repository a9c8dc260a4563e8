// A plugin of buf generate: writes gen/methods.ts, what each method says of itself by its options. ts-proto emits no options.
import { readFileSync } from "node:fs";
import { create, createFileRegistry, fromBinary, getOption, hasOption, isFieldSet, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
  MethodOptions_IdempotencyLevel,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";

const OPTION = "options.v1.method";
/** Fields in which a request names the person it acts for. */
const PERSON_FIELDS = ["acting_member", "member", "created_by", "revoked_by"];

const request = fromBinary(CodeGeneratorRequestSchema, readFileSync(0));
const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: request.protoFile }));
const option = registry.getExtension(OPTION);
const caller = registry.getEnum("options.v1.Caller");
const actor = registry.getEnum("options.v1.Actor");

/** `console` of CALLER_CONSOLE. */
const nameOf = ({ values }, number) =>
  values
    .find((value) => value.number === number)
    .name.split("_")
    .at(-1)
    .toLowerCase();
const names = (described) => described.values.filter(({ number }) => number !== 0).map(({ number }) => nameOf(described, number));

/** @throws Error that names the method and what it leaves out */
function factsOf(method) {
  const path = `/${method.parent.typeName}/${method.name}`;
  const { options } = method.proto;
  if (options === undefined || !isFieldSet(options, MethodOptionsSchema.field.idempotencyLevel)) {
    throw new Error(`${path} has no idempotency_level: IDEMPOTENCY_UNKNOWN, if a repetition has another effect`);
  }
  if (!hasOption(method, option)) throw new Error(`${path} has no option (${OPTION})`);
  const { callers, actor: acts, actorField, entry } = getOption(method, option);
  if (acts === 0) throw new Error(`${path} has no actor`);
  const facts = {
    isIdempotent: options.idempotencyLevel !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN,
    callers: callers.map((number) => nameOf(caller, number)),
    actor: nameOf(actor, acts),
    ...(actorField !== "" && { actorField }),
    ...(entry !== undefined && { entry: entryOf(entry) }),
  };
  const changes = options.idempotencyLevel !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS && !options.deprecated;
  const problem = problemOf(facts, new Set(method.input.fields.map(({ name }) => name))) ?? entryProblem(facts, method, changes);
  if (problem !== undefined) throw new Error(`${path} ${problem}`);
  return [path, facts];
}

const entryOf = ({ action, subject, fields, role, ofSelf }) => ({
  action,
  ...(subject !== "" && { subject }),
  fields,
  ...(role !== "" && { role }),
  ...(ofSelf !== "" && { ofSelf }),
});

/** What a method says of its entry must be there to be written. */
function entryProblem({ actor: acts, entry }, { input, output }, changes) {
  if (entry === undefined) return changes && isPerson(acts) ? "changes something for a person, and has no entry" : undefined;
  const { action, subject = "", fields, role, ofSelf } = entry;
  for (const name of [action, ofSelf ?? action])
    if (!/^[a-z_]+\.[a-z_]+$/.test(name))
      return `has an entry whose action is ${name}: a kind of thing and what is done, as in receiver.create`;
  const path = subject.split(".");
  const isThere = path[0] === "response" ? hasPath(output, path.slice(1)) : subject === "" || hasPath(input, path);
  if (!isThere) return `has no ${subject}, the subject of its entry`;
  const missing = [...fields, ...(role === undefined ? [] : [role])].find((name) => !hasPath(input, [name]));
  return missing === undefined ? undefined : `has no field ${missing}, which its entry names`;
}

const isPerson = (acts) => ["person", "member", "owner"].includes(acts);

function hasPath(message, [name, ...rest]) {
  const field = message?.fields.find((each) => each.name === name);
  return field !== undefined && (rest.length === 0 || hasPath(field.message, rest));
}

/** What its options say must fit its request, and each other. */
function problemOf({ callers, actor: acts, actorField }, fields) {
  const isForPerson = isPerson(acts);
  if (!isForPerson && actorField !== undefined) return "acts for no person, and needs no actor_field";
  if (acts === "caller" && callers.includes("console")) return "acts for the console, which may act for people only";
  const named = PERSON_FIELDS.find((name) => fields.has(name));
  if (isForPerson && named !== undefined && actorField === undefined) return `needs actor_field: its request has ${named}`;
  if (actorField !== undefined && !fields.has(actorField)) return `has no field ${actorField}, its actor_field`;
  if (["member", "owner"].includes(acts) && !fields.has("brand_id")) return "acts for a member, but its request names no brand_id";
  return undefined;
}

function contents() {
  const files = [...registry.files].filter((file) => request.fileToGenerate.includes(file.proto.name));
  const methods = files.flatMap(({ services }) => services.flatMap(({ methods: each }) => each.map(factsOf)));
  const actions = new Set(methods.flatMap(([, { entry }]) => (entry === undefined ? [] : [entry.action, entry.ofSelf ?? entry.action])));
  return `// Code generated by proto/generate-methods.js from the options of proto/*.proto. DO NOT EDIT.

/** Processes that call others, and the operator, who may call every method. */
export const CALLERS = ${list([...names(caller), "operator"])} as const;

export type Caller = (typeof CALLERS)[number];

/** What a method says of itself: options.proto. */
export interface MethodFacts {
  /** A repetition has the effect of one call. */
  readonly isIdempotent: boolean;
  /** Those who may call it beside the operator. */
  readonly callers: readonly Caller[];
  /** Whom a call acts for: the calling process, who holds what the request contains, or a person: anyone, a member or an owner of the brand. */
  readonly actor: ${names(actor)
    .map((name) => `"${name}"`)
    .join(" | ")};
  /** The field of the request that names the person. */
  readonly actorField?: string;
  /** What a call writes into the audit log, in the transaction of its change. */
  readonly entry?: EntryFacts;
}

export interface EntryFacts {
  readonly action: AuditAction;
  /** A field of the request, or the path of one of the response, as in \`response.receiver.id\`. */
  readonly subject?: string;
  /** Fields of the request whose names an entry has where a call gives them; of a message, those of its fields. */
  readonly fields: readonly string[];
  /** The field of the request with the role that a member gets. */
  readonly role?: string;
  /** The action where the subject is the person who acts. */
  readonly ofSelf?: AuditAction;
}

/** What the audit log records that somebody did or tried. A later release may write others. */
export const AUDIT_ACTIONS = ${list([...actions].toSorted((a, b) => (a < b ? -1 : 1)))} as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Keys are paths, as in \`/accounts.v1.AccountsService/AddMember\`. */
export const METHODS: Readonly<Record<string, MethodFacts>> = {
${methods.map(lineOf).join("")}};
`;
}

const list = (texts) => `[${texts.map((text) => JSON.stringify(text)).join(", ")}]`;
const lineOf = ([path, facts]) => `  "${path}": ${literal(facts)},\n`;

/** As prettier writes it, but on one line. */
const literal = (value) => {
  if (Array.isArray(value)) return list(value);
  if (typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${name}: ${literal(each)}`)
    .join(", ")} }`;
};

/** A problem is an answer to buf, which shows it and fails. */
function respond() {
  try {
    return { file: [{ name: "methods.ts", content: contents() }] };
  } catch (error) {
    return { error: error.message };
  }
}

const response = create(CodeGeneratorResponseSchema, {
  supportedFeatures: BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL),
  ...respond(),
});
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));
