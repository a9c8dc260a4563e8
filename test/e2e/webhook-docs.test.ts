import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { eventually } from "@brand-records/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { callContext, startOnSharedServices, type SharedStack } from "../stack.ts";
import { startReceivers } from "../receivers.ts";
import { blocks, bodies, page, type Body } from "../webhook-page.ts";

/** One promise: docs/webhooks.md shows exactly what is sent. webhook-programs.test.ts runs its programs. */

const run = promisify(execFile);

/** Builds the request with the product's code, in another process because that code is compiled to ES modules. */
async function asSent(body: Body, secret: string, timestampSeconds: number): Promise<{ body: string; headers: Record<string, string> }> {
  const script = `
    import { eventBody } from "./services/webhook/dist/domain/event.js";
    import { signatureHeaders, signingKey, unsignedHeaders } from "./services/webhook/dist/domain/signature.js";
    const { shown, secret, timestampSeconds } = JSON.parse(process.argv[1]);
    const { id, type, created_at, brand_id, test, dashboard_url, data } = shown;
    const parts = { event_id: id, type, event_created_at: created_at, brand_id, test, data: JSON.stringify(data) };
    const body = eventBody(parts, new URL(dashboard_url).origin);
    const request = { eventId: id, eventType: type, body, timestampSeconds, attempt: 1, keys: [signingKey(secret)], headerWord: "Service" };
    const headers = { ...unsignedHeaders(request, null), ...signatureHeaders(request) };
    process.stdout.write(JSON.stringify({ body: body.toString(), headers }));`;
  const given = JSON.stringify({ shown: body, secret, timestampSeconds });
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script, given]);
  return JSON.parse(stdout) as { body: string; headers: Record<string, string> };
}

describe("the documented bodies", () => {
  it("are one of each type, with exactly the fields sent, in the same order", async () => {
    expect(bodies().map(({ type }) => type)).toEqual(EVENT_TYPE_NAMES);
    for (const shown of bodies()) {
      const sent = await asSent(shown, "whsec_", 0);
      expect(JSON.parse(sent.body)).toEqual(shown);
      expect(sent.body).toBe(JSON.stringify(shown));
    }
  });

  it("match the schema in docs/schemas", async () => {
    const ajv = new Ajv2020({ allErrors: true });
    addFormats.default(ajv);
    const accepts = ajv.compile(JSON.parse(await readFile("docs/schemas/brand-event.schema.json", "utf8")) as object);
    for (const shown of bodies()) expect({ valid: accepts(shown), errors: accepts.errors }).toEqual({ valid: true, errors: null });
  });
});

it("the documented request is what is sent, signed with the documented secret", async () => {
  const [request = ""] = blocks("http");
  const [head = "", body = ""] = request.trimEnd().split("\n\n");
  const headers = Object.fromEntries(
    head
      .split("\n")
      .slice(1)
      .map((line) => line.split(": ") as [string, string]),
  );
  const [secret = ""] = /whsec_[A-Za-z0-9+/]{43}=/.exec(page) ?? [];
  const shown = bodies().find(({ type }) => type === headers["X-Service-Event"]) as Body;
  const sent = await asSent(shown, secret, Number(headers["X-Service-Timestamp"]));
  expect(body).toBe(sent.body);
  const { "content-type": contentType, "user-agent": userAgent, ...others } = sent.headers;
  expect(headers).toEqual({ Host: "hooks.brand.example", "Content-Type": contentType, "User-Agent": userAgent, ...others });
});

describe("a running system", () => {
  let stack: SharedStack;
  beforeAll(async () => {
    stack = await startOnSharedServices();
  });
  afterAll(() => stack.stop());

  it("sends tests of each type with the documented headers and fields", async () => {
    const server = await startReceivers();
    const brand = await stack.createBrand();
    const { id: receiver_id, secret } = await stack.addReceiver(brand, `${server.url}events`);
    const brand_id = brand.id;
    for (const type of EVENT_TYPE_NAMES) await stack.receivers.sendTest({ brand_id, receiver_id, type, next: false }, callContext());
    await eventually(() => expect(server.requests).toHaveLength(EVENT_TYPE_NAMES.length));
    server.stop();
    const [, head = ""] = /^```http\n.*?\n(.*?)\n\n/ms.exec(page) ?? [];
    const headersShown = head.split("\n").map((line) => line.slice(0, line.indexOf(":")).toLowerCase());
    for (const { headers, body } of server.requests) {
      const sent = JSON.parse(body) as Body;
      const shown = bodies().find(({ type }) => type === sent.type) as Body;
      expect(Object.keys(sent)).toEqual(Object.keys(shown));
      expect(Object.keys(sent.data).toSorted()).toEqual(Object.keys(shown.data).toSorted());
      expect(sent).toMatchObject({ test: true, dashboard_url: `https://records.example/developers/events/${sent.id}` });
      const { connection: _, "content-length": __, traceparent: ___, ...others } = headers;
      expect(Object.keys(others).toSorted()).toEqual(headersShown.toSorted());
      const signed = `${headers["x-service-timestamp"] as string}.${body}`;
      expect(headers["x-service-signature"]).toBe(`sha256=${createHmac("sha256", secret).update(signed).digest("hex")}`);
    }
  });

  it("describes each type with the documented body, which matches the description", async () => {
    const { webhooks, components } = (await (await fetch(`${stack.url}/openapi/service.json`)).json()) as {
      components: {
        pathItems: Record<string, { post: { requestBody: { content: Record<string, { schema: object; example: unknown }> } } }>;
      };
      webhooks: Record<string, { $ref: string }>;
    };
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    for (const shown of bodies()) {
      const pathItem = components.pathItems[webhooks[shown.type]?.$ref.split("/").at(-1) ?? ""];
      const described = pathItem?.post.requestBody.content["application/json"];
      expect(described?.example).toEqual(shown);
      const accepts = ajv.compile({ ...described?.schema, components });
      expect({ valid: accepts(shown), errors: accepts.errors }).toEqual({ valid: true, errors: null });
    }
  });
});

it("the table of attempts adds up", () => {
  const seconds = (text: string): number =>
    [...text.matchAll(/(\d+) (s|min|h)\b/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * { s: 1, min: 60, h: 3_600 }[unit as "s"],
      0,
    );
  const rows = [...page.matchAll(/^\| (\d+) +\| (.+?) +\| (.*?) *\|$/gm)].map(([, attempt, pause = "", since = ""]) => ({
    attempt,
    pause,
    since,
  }));
  expect(rows).toHaveLength(10);
  let total = 0;
  for (const { pause, since } of rows) {
    total += seconds(pause);
    // The page rounds down to minutes from one minute on.
    expect(seconds(since)).toBe(total < 60 ? total : total - (total % 60));
  }
});
