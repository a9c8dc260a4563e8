import { BrandRecords } from "./brand-records.ts";
import { BrandRecordsError } from "./brand-records-error.ts";
import type { ClientOptions } from "./options.ts";

/** One promise: a call ends in time, with what the service says. */

const BRAND = "brd_1";
const PLAN = {
  title: "Clips",
  goal: "500,000 views",
  campaign_type: "blitz",
  planned_for: "2026-12-01",
  review_on: "2026-12-15",
  planning_budget: 75_000,
} as const;

let sent: string[];
beforeEach(() => {
  sent = [];
});

/** A client of a service that responds as `respond` says; to HEAD without the body, as HTTP has it. */
function client(respond: () => Response, options: Partial<ClientOptions> = {}): BrandRecords {
  const fetch = async (input: string | URL | Request, { method }: RequestInit = {}): Promise<Response> => {
    sent.push(`${method} ${new URL(input).pathname}`);
    const { status, headers, body } = respond();
    return new Response(method === "HEAD" ? null : body, { status, headers });
  };
  return new BrandRecords({ url: "https://records.example", key: "brk_live_x", fetch, ...options });
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a plan for an expected brand", () => {
  it.each([
    [401, "invalid_key", {}],
    [403, "permission_required", {}],
    [429, "rate_limited", { "Retry-After": "900" }],
  ])("that is refused with %i before it is sent fails with %s", async (status, code, headers) => {
    const respond = (): Response =>
      Response.json({ error: { code, message: "m" } }, { status, headers: { "X-Brand-Id": BRAND, ...headers } });
    const error = await failure(client(respond, { expectBrand: BRAND }).prepareCampaignPlan(PLAN));
    expect(error).toMatchObject({ code, status, brandId: BRAND, attempts: 1 });
    expect(sent).toEqual(["GET /api/v1/campaigns"]);
  });
});

describe("a key function that does not end", () => {
  const never = (): Promise<string> => new Promise(() => {});

  it("ends the call with its deadline, before anything is sent", async () => {
    const error = await failure(
      client(() => Response.json({}), { key: never, deadlineMs: 1 })
        .payouts()
        .page(),
    );
    expect(error).toBeInstanceOf(BrandRecordsError);
    expect(error).toMatchObject({ code: "no_response", attempts: 0, message: expect.stringContaining("key") });
    expect(sent).toEqual([]);
  });

  it("ends the call also when it is asked again, after a refusal", async () => {
    let calls = 0;
    const key = (): Promise<string> => ((calls += 1) === 1 ? Promise.resolve("brk_live_x") : never());
    const refuse = (): Response => Response.json({ error: { code: "invalid_key", message: "m" } }, { status: 401 });
    const error = await failure(client(refuse, { key, deadlineMs: 2_000 }).prepareCampaignPlan(PLAN));
    expect(error).toMatchObject({ code: "no_response", attempts: 1, planRequestId: expect.any(String) });
    expect(sent).toHaveLength(1);
  });
});
