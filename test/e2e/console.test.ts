import { OPERATIONS, type OperationName } from "@brand-records/console-contract";
import { startBrowser, type TestBrowser } from "../browser.ts";
import { consoleCaller, signIn, signInUrl, type ConsoleCaller } from "../console-calls.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: owners can work in the console, and only owners can do what owners do. */

let stack: Stack;
let browser: TestBrowser;
let brand: TestBrand;
let url: string;

beforeAll(async () => {
  [stack, browser] = await Promise.all([startStack({ hasConsole: true }), startBrowser()]);
  brand = await stack.createBrand();
  url = stack.gateways[0].console?.url ?? "";
}, 300_000);
afterAll(async () => {
  await browser?.stop();
  await stack?.stop();
});

it("an owner signs in with a link, creates a key that reads the brand's records, and revokes it", async () => {
  const { page, expectNoProblems } = await browser.open();
  await page.goto(await signInUrl(stack, url, brand.owner));
  await page.getByRole("button", { name: `Sign in as ${brand.owner}` }).click();
  await page.getByRole("navigation").getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Looker report");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const secret = await page.getByText(/^brk_live_[A-Za-z0-9]{36}$/).innerText();
  const read = await stack.get("/api/v1/campaigns", secret);
  expect([read.status, read.headers.get("x-brand-id")]).toEqual([200, brand.id]);

  await page.keyboard.press("Escape");
  await page.evaluate("history.back()");
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("button", { name: "Revoke Looker report" }).click();
  const kept = await page.evaluate<string[]>(
    "[document.documentElement.outerHTML, ...Object.values(localStorage), ...Object.values(sessionStorage)]",
  );
  expect(kept.join()).not.toContain(secret);

  await page.getByRole("textbox", { name: /Type the key’s name/ }).fill("Looker report");
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("1 revoked key").waitFor();
  expect((await stack.get("/api/v1/campaigns", secret)).status).toBe(401);
  expectNoProblems();

  const { entries } = await stack.audit.listAudit(
    { brand_id: brand.id, actor: brand.owner, action: null, from: null, to: null, page_size: 0, page_token: null },
    callContext(),
  );
  expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
    ["key.revoke", "done"],
    ["key.create", "done"],
  ]);
}, 60_000);

describe("a page", () => {
  it("has the policy with a nonce of its own, and is never stored", async () => {
    const [first, second] = await Promise.all([fetch(`${url}/developers`), fetch(`${url}/sign-in`)]);
    const policy = first.headers.get("content-security-policy") ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(policy.replace(nonce, "N")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(await first.text()).toContain(`nonce="${nonce}"`);
    expect(second.headers.get("content-security-policy")).not.toBe(policy);
  });

  it("has scripts that browsers keep", async () => {
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await (await fetch(`${url}/developers`)).text())?.[1];
    const { status, headers } = await fetch(`${url}${script}`, { headers: { "accept-encoding": "gzip, deflate, br, zstd" } });
    expect([status, headers.get("cache-control"), headers.get("content-encoding")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
      "br",
    ]);
    expect((await fetch(`${url}/console/assets/unknown.js`)).status).toBe(404);
  });

  it("under 127.0.0.1 leads to the host whose cookie it uses", async () => {
    const response = await fetch(`${stack.url}/developers/keys?x=1`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([307, `${url}/developers/keys?x=1`]);
  });
});

describe("every operation", () => {
  /** Who calls, and what each operation's `needs` makes of it. */
  const callers: Record<string, { caller: ConsoleCaller; refusals: Record<string, string | undefined> }> = {};
  const operations = Object.entries(OPERATIONS) as [OperationName, (typeof OPERATIONS)[OperationName]][];

  beforeAll(async () => {
    const other = await stack.createBrand();
    const member = `member@${brand.id.slice(4)}.example`;
    await stack.accounts.addMember({ brand_id: brand.id, email: member, role: "member", acting_member: null }, callContext());
    const signedOut = "invalid_session";
    callers["nobody"] = { caller: consoleCaller(url, ""), refusals: { session: signedOut, member: signedOut, owner: signedOut } };
    callers["another brand's owner"] = {
      caller: await signIn(stack, url, other.owner),
      refusals: { member: "not_found", owner: "not_found" },
    };
    callers["a member"] = { caller: await signIn(stack, url, member), refusals: { owner: "owner_required" } };
    callers["an owner"] = { caller: await signIn(stack, url, brand.owner), refusals: {} };
  });

  it("refuses every caller that its table does not allow", async () => {
    for (const [who, { caller, refusals }] of Object.entries(callers)) {
      for (const [name, { needs }] of operations) {
        if (name === "session.sign_out") continue;
        // Nothing but the brand: what is allowed fails for its input, and changes nothing.
        const { code } = await caller.send(name, { brand_id: brand.id });
        const refusal = refusals[needs];
        const isAllowed = code === undefined || code === "invalid_request";
        expect([who, name, refusal ?? isAllowed]).toEqual([who, name, refusal === undefined ? true : code]);
      }
    }
  });

  it.each([
    ["no origin", { "content-type": "application/json" }, "origin_not_allowed"],
    ["another origin", { "content-type": "application/json", origin: "https://evil.example" }, "origin_not_allowed"],
    ["another site", { "content-type": "application/json", "sec-fetch-site": "cross-site" }, "origin_not_allowed"],
    ["another port of this host", { "content-type": "application/json", "sec-fetch-site": "same-site" }, "origin_not_allowed"],
    ["an address bar", { "content-type": "application/json", "sec-fetch-site": "none" }, "origin_not_allowed"],
    ["a form", { "content-type": "text/plain", "sec-fetch-site": "same-origin" }, "unsupported_media_type"],
  ])("refuses %s", async (_, headers, refusal) => {
    for (const [name] of operations) {
      expect([name, (await callers["an owner"]?.caller.send(name, {}, headers))?.code]).toEqual([name, refusal]);
    }
  });

  it("accepts a browser that sends Origin without Sec-Fetch-Site", async () => {
    const headers = { "content-type": "application/json", origin: url };
    expect(await callers["an owner"]?.caller.send("session.me", {}, headers)).toEqual({ status: 200, code: undefined });
  });
});
