import { z } from "zod";

/**
 * Who may call an operation:
 * - `anyone`: without a session; for signing in only
 * - `session`: a signed-in person
 * - `member`, `owner`: a member or an owner of the brand that the input names as `brand_id`; to everyone else the brand does not exist
 */
type Needs = "anyone" | "session" | "member" | "owner";

/** Ids of our own records; `prefix_` and 1 to 40 lower-case letters or digits. */
export const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{1,40}$`), `must be an id that starts with ${prefix}_`);

/** RFC 3339, UTC, with milliseconds. */
export const time = z.string();

/** A field that a service's message leaves out is null. */
export const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);

/** `next_page_token` of the page before. */
export const page_token = z.string().max(1_000).optional();

const operation = <const Who extends Needs, In extends z.ZodRawShape>(needs: Who, input: In) => ({
  returns: <Out extends z.ZodRawShape>(output: Out) => ({
    needs,
    /** Unknown fields are refused. */
    input: z.strictObject(input),
    /** Fields that it does not list are removed from a response. */
    output: z.object(output),
  }),
});

export const anyone = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("anyone", input);
export const session = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("session", input);

/** What every operation of a brand's member names. Links name no brand: the page asks `locate`. */
const brandInput = { brand_id: id("brd") };

export const member = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("member", { ...brandInput, ...input });
export const owner = <In extends z.ZodRawShape = {}>(input: In = {} as In) => operation("owner", { ...brandInput, ...input });
