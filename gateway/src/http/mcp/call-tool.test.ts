import { AppError } from "@brand-records/errors";
import type { Principal } from "../../auth/principal.ts";
import type { ObjectSchema } from "../../operations/json-schema.ts";
import type { Operation } from "../../operations/operation.ts";
import type { Services } from "../../services.ts";
import { callTool } from "./call-tool.ts";
import { createToolbox } from "./toolbox.ts";

const schema: ObjectSchema = {
  type: "object",
  properties: { note: { type: "string" }, list: { type: "array" }, budget: { type: "number" }, limit: { type: "integer" } },
};

const operation = (name: string, run: (principal: Principal, input: unknown) => Promise<object>): Operation => ({
  name,
  title: name,
  tag: name,
  method: "POST",
  path: `/${name}`,
  summary: name,
  description: name,
  guide: name,
  input: { from: "body", component: name, schema, example: {}, parse: (given) => given },
  output: { component: name, schema, example: {}, responses: {} },
  untrusted: [],
  errors: [],
  run: async (_, by, input) => ({ status: 200, body: await run(by, input) }),
});

const LARGE_PAGE = Array.from({ length: 20 }, (_, at) => ({ id: `cmp_${at}`, title: "<".repeat(64 * 1024) }));

const toolbox = createToolbox([
  operation("open", ({ brand_id }, given) => Promise.resolve({ brandId: brand_id, given })),
  operation("page", () => Promise.resolve({ count: LARGE_PAGE.length, data: LARGE_PAGE })),
  operation("broken", () => Promise.reject(new TypeError("a bug"))),
  operation("unavailable", () => Promise.reject(new AppError("unavailable", "Unavailable.", { retryAfterSeconds: 1 }))),
]);

const principal: Principal = {
  key_id: "key_1",
  key_name: "Test",
  permissions: ["records:read"],
  brand_id: "brd_1",
  brand_name: "Bituin",
  tier: "plus",
  verified: true,
  epoch: 1,
};

async function call(params: Record<string, unknown>) {
  const context = {
    requestId: "r1",
    traceparent: "",
    deadline: 0,
    startedAt: 0,
    address: "127.0.0.1",
    span: undefined,
    signal: new AbortController().signal,
    route: "",
    errorDocs: "",
    rpc: { method: "tools/call" },
  };
  const caller = { services: {} as Services, principal, toolbox, context, publicUrl: "https://records.example" };
  const result = JSON.parse(`{${await callTool(params, caller)}}`) as {
    content: { text: string }[];
    structuredContent?: unknown;
    isError: boolean;
  };
  return { ...result, body: JSON.parse(result.content[0]?.text ?? "") as unknown, context };
}

it("hidden characters of a text show in both copies of the result, and `<` is escaped in the text", async () => {
  const { content, body, structuredContent } = await call({ name: "open", arguments: { note: "Sale\u200b\u{e0041} <b>" } });
  expect(content[0]?.text).toContain(String.raw`"Sale[2 hidden characters] \u003cb>"`);
  expect(structuredContent).toEqual({ brandId: "brd_1", given: { note: "Sale[2 hidden characters] <b>" } });
  expect(body).toEqual(structuredContent);
});

it("between the records of large pages others get a turn, and no two pages share one", async () => {
  let [turns, isBuilding] = [0, true];
  const count = (): void => {
    turns += 1;
    if (isBuilding) setImmediate(count);
  };
  setImmediate(count);
  const done: string[] = [];
  const pages = Array.from({ length: 3 }, () => call({ name: "page" }).finally(() => done.push("page")));
  await new Promise((resolve) => setImmediate(resolve));
  await call({ name: "open" }).then(() => done.push("open"));
  const results = await Promise.all(pages);
  isBuilding = false;
  expect(done).toEqual(["open", "page", "page", "page"]);
  expect(turns).toBeGreaterThanOrEqual(3 * LARGE_PAGE.length);
  for (const { body, structuredContent } of results) {
    expect(structuredContent).toEqual({ count: LARGE_PAGE.length, data: LARGE_PAGE });
    expect(body).toEqual(structuredContent);
  }
});

it("of 60,000 unknown arguments, an operation sees as many as a refusal names", async () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`unknown_${at}`, "x"]));
  const { body } = await call({ name: "open", arguments: { note: "a", ...many } });
  expect(Object.keys((body as { given: object }).given)).toHaveLength(32);
});

it('null and "" omit an argument, except under an unknown name', async () => {
  for (const omitted of [null, ""]) {
    expect(await call({ name: "open", arguments: { note: omitted, other: omitted } })).toMatchObject({
      body: { given: { other: omitted } },
    });
  }
  expect(await call({ name: "open", arguments: null })).toMatchObject({ body: { given: {} } });
});

it("an array or a number may come as its JSON text; a text is never read as anything else", async () => {
  const given = { note: "[1]", list: '["a", "b"]', budget: "75000.5", limit: " 20 ", other: "[1]" };
  const read = { note: "[1]", list: ["a", "b"], budget: 75_000.5, limit: 20, other: "[1]" };
  expect(await call({ name: "open", arguments: given })).toMatchObject({ body: { given: read } });
  for (const text of ["a", '{"a":1}', '"[1]"', "true", "75,000", "0x10", '["a"']) {
    const unread = { list: text, budget: text, limit: text };
    expect(await call({ name: "open", arguments: unread })).toMatchObject({ body: { given: unread } });
  }
});

it("a failure on our side is thrown, so that clients try again", async () => {
  await expect(call({ name: "broken" })).rejects.toMatchObject({ kind: "internal_error" });
  await expect(call({ name: "unavailable" })).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 1 });
});
