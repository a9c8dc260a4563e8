import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BrandRecords, type ClientOptions } from "@brand-records/client";
import { importRecords } from "@brand-records/brandctl";
import { openPool, type Database } from "@brand-records/postgres";
import { RESOURCES } from "@brand-records/resources";
import { newId } from "@brand-records/ids";
import { startForwardingProxy, type ForwardingProxy } from "../forwarding-proxy.ts";
import { planInput } from "../plan-input.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startOnSharedServices, type SharedStack, type TestBrand } from "../stack.ts";

/**
 * One promise: of the real service the client misses no record, repeats none, and makes a plan once. What it does when a server fails is in
 * behaviour/.
 */

type Intercept = (number: number, incoming: IncomingMessage, outgoing: ServerResponse) => boolean | Promise<boolean>;

const SIZES = { campaigns: 2, submissions: 2, payouts: 30, deposits: 2, conversions: 2, links: 2 };

let stack: SharedStack;
let db: Database;
let proxy: ForwardingProxy;
let brand: TestBrand;
/** Called for the first, second, … request of a test. */
let onRequest: Intercept;
let requests: number;

beforeAll(async () => {
  stack = await startOnSharedServices({ RATE_LIMIT_PLUS: "100000" });
  db = openPool({ url: stack.databaseUrl, max: 1, applicationName: "test" });
  proxy = await startForwardingProxy(stack.url, {
    intercept: async (incoming, outgoing) => onRequest((requests += 1), incoming, outgoing),
  });
});
beforeEach(async () => {
  onRequest = () => false;
  requests = 0;
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
});
afterAll(async () => {
  await proxy.stop();
  await db.stop();
  await stack.stop();
});

const client = (options: Partial<ClientOptions> = {}): BrandRecords => new BrandRecords({ url: proxy.url, key: brand.key, ...options });

async function idsOf(list: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const all: string[] = [];
  for await (const { id } of list) all.push(id);
  return all;
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error("it was resolved")),
    (error: unknown) => error,
  );

it("a walk has every record once, although records are made while it lasts", async () => {
  await seedBrand(stack, brand.id, SIZES);
  onRequest = async () => {
    const target = { brandId: brand.id, resource: "links" as const, skipBad: false };
    const link = { ...RESOURCES.links.example, id: newId("lnk"), created_at: new Date().toISOString() };
    const { problems } = await importRecords(stack.importing, target, [JSON.stringify(link)]);
    expect(problems).toEqual([]);
    return false;
  };
  const before = await idsOf(new BrandRecords({ url: stack.url, key: brand.key }).links());
  const seen = await idsOf(client().links({}, { limit: 1 }));
  // Each request made one: the first page lists the first, and the others come before the pages that were left.
  expect(seen).toEqual([expect.stringMatching(/^lnk_/), ...before]);
  expect(requests).toBe(seen.length + 1);
});

it("a walk goes on with a key that took the place of one which was revoked", async () => {
  await seedBrand(stack, brand.id, SIZES);
  let { key } = brand;
  onRequest = async (number) => {
    if (number !== 2) return false;
    const created = await stack.accounts.createKey(
      { brand_id: brand.id, name: "Next", environment: "live", permissions: [], created_by: brand.owner },
      callContext(),
    );
    await stack.accounts.revokeKey({ key_id: brand.keyId, revoked_by: brand.owner }, callContext());
    key = ` ${created.secret}\n`;
    return false;
  };
  expect(await idsOf(client({ key: async () => key }).payouts({}, { limit: 10 }))).toHaveLength(SIZES.payouts);
  expect(proxy.exchanges.map(({ status }) => status)).toContain(401);
  expect(await failure(client().payouts().page())).toMatchObject({ code: "invalid_key", status: 401, attempts: 1 });
});

it("a refusal names what is wrong, and the request", async () => {
  expect(await failure(client().payouts({ created_from: "yesterday" }).page())).toMatchObject({
    code: "invalid_parameter",
    status: 400,
    field: "created_from",
    brandId: brand.id,
    requestId: expect.stringMatching(/./),
  });
  expect(await failure(client().prepareCampaignPlan({ ...planInput({ title: "", goal: "" }), campaign_type: "blitz" }))).toMatchObject({
    code: "invalid_request",
    field: "title",
    details: [{ field: "title" }, { field: "goal" }],
  });
});

it("a plan is made once through lost responses, 503 and the limit, and by a call that is repeated after all of them failed", async () => {
  const { request_id: _, ...input } = { ...planInput(), campaign_type: "blitz" as const };
  onRequest = async (number, incoming, outgoing) => {
    if (number > 3) return false;
    if (number === 1) await forwardUnheard(incoming);
    if (number === 1) return outgoing.destroy().destroyed;
    outgoing.writeHead(number === 2 ? 503 : 429, number === 2 ? {} : { "Retry-After": "1" }).end();
    return true;
  };
  const plan = await client().prepareCampaignPlan(input);
  expect(requests).toBe(4);
  onRequest = (number, _, outgoing) => number < 6 && outgoing.writeHead(503, { "Retry-After": "1000" }).end().writableEnded;
  const error = await failure(client().prepareCampaignPlan({ ...input, title: "Second" }));
  expect(error).toMatchObject({ status: 503, planRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  const { planRequestId: request_id } = error as { readonly planRequestId: string };
  const again = { ...input, title: "Second", request_id };
  const [second, repeated] = [await client().prepareCampaignPlan(again), await client().prepareCampaignPlan(again)];
  expect(repeated).toEqual(second);
  const plans = await db.query<{ id: string }>("select id from plans.plans where brand_id = $1", [brand.id]);
  expect(plans.map(({ id }) => id).toSorted()).toEqual([plan.plan_id, second.plan_id].toSorted());
});

/** Carries out a request whose response never arrives. */
async function forwardUnheard(incoming: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = { authorization: `Bearer ${brand.key}`, "content-type": "application/json", "x-request-id": randomUUID() };
  const response = await fetch(`${stack.url}${incoming.url}`, { method: "POST", headers, body: Buffer.concat(chunks) });
  expect(response.status).toBe(201);
}
