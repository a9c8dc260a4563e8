import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ServiceProcess } from "@brand-records/testkit";
import { startBrowser, type TestBrowser } from "../browser.ts";
import { consoleCaller } from "../console-calls.ts";
import { planTestProvider, type TestProvider } from "../oidc-provider/test-provider.ts";
import { Visitor, type TestAccount } from "../oidc-provider/visitor.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: an OpenID provider signs members in to the console, and no one else gets in by it. */

let stack: Stack;
let browser: TestBrowser;
let provider: TestProvider;
let running: ServiceProcess | undefined;
let brand: TestBrand;
/** The console's. */
let url: string;

beforeAll(async () => {
  provider = await planTestProvider();
  // Tests sign in more often from one address than people do.
  const envOf = { console: { ...provider.settings, SIGN_INS_PER_ADDRESS: "300" }, accounts: provider.settingsOfAccounts };
  [stack, browser] = await Promise.all([startStack({ hasConsole: true, envOf }), startBrowser()]);
  brand = await stack.createBrand();
  url = stack.gateways[0].console?.url ?? "";
}, 300_000);
afterEach(() => browser.closePages());
afterAll(async () => {
  await browser?.stop();
  await running?.kill();
  await stack?.stop();
});

let members = 0;
/** A new member of the brand, with an account at the provider. */
async function newMember(): Promise<TestAccount> {
  members += 1;
  const email = `member${members}@${brand.id.slice(4)}.example`;
  await stack.accounts.addMember({ brand_id: brand.id, email, role: "member", acting_member: null }, callContext());
  return { sub: `sub-${members}`, email };
}

/** Begins a sign-in and signs in at the provider. Returns the URL with which the provider leads back. */
async function callbackFor(visitor: Visitor, { sub, email, verified = "yes" }: TestAccount, query = ""): Promise<string> {
  const { location } = await visitor.send(`${url}/auth/sign-in${query}`);
  const interaction = await visitor.follow(location, provider.issuer);
  if (new URL(interaction).origin !== provider.issuer) return interaction;
  const sent = await visitor.send(interaction, { sub, email, verified, action: "continue" });
  return visitor.follow(sent.location, provider.issuer);
}

/** Where a browser is led at last, below the console's URL: the page, and why it failed if it did. */
async function finish(visitor: Visitor, callback: string): Promise<{ path: string; error: string | null; returnTo: string | null }> {
  const { status, location, headers, body } = await visitor.send(callback);
  expect([status, headers.get("cache-control"), headers.get("referrer-policy")]).toEqual([303, "no-store", "no-referrer"]);
  expect(body).not.toContain("{");
  const { origin, pathname, searchParams } = new URL(location);
  expect(origin).toBe(url);
  if (searchParams.has("error")) expect(searchParams.get("request_id")).toBe(headers.get("x-request-id"));
  return { path: pathname, error: searchParams.get("error"), returnTo: searchParams.get("return_to") };
}

const signInAs = async (visitor: Visitor, account: TestAccount, query?: string) =>
  finish(visitor, await callbackFor(visitor, account, query));
const sessionOf = (visitor: Visitor): string | undefined => visitor.cookiesOf(url).get(`session_${new URL(url).port}`);
const cookieHeader = (visitor: Visitor, path = "/"): string =>
  [...visitor.cookiesOf(new URL(path, url).href)].map((pair) => pair.join("=")).join("; ");
const signedIn = { path: "/developers", error: null, returnTo: null };
const refused = (error: string, returnTo: string | null = "/developers") => ({ path: "/sign-in", error, returnTo });

it("starts without the provider, says so at each sign-in, and works once it runs", async () => {
  const visitor = new Visitor();
  for (let i = 0; i < 2; i += 1) {
    expect(await finish(visitor, `${url}/auth/sign-in?return_to=/developers/keys`)).toEqual(
      refused("provider_unreachable", "/developers/keys"),
    );
  }
  running = await provider.start(url);
  expect(await signInAs(visitor, await newMember())).toEqual(signedIn);
});

it("in a browser: signs in, returns to where the person was going, and signs out at the provider, which then asks again", async () => {
  const { email } = await newMember();
  const { page, expectNoProblems, expectAccessible } = await browser.open();
  await page.goto(`${url}/developers/receivers`);
  await page.getByRole("link", { name: "Sign in with Test ID" }).waitFor();
  await expectAccessible();
  expect(await page.getByText("brandctl members link").count()).toBe(0);
  const signIn = async (): Promise<void> => {
    await page.getByRole("link", { name: "Sign in with Test ID" }).click();
    await page.getByLabel("Subject").fill("in-a-browser");
    await page.getByLabel("E-mail").fill(email.toUpperCase());
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await signIn();
  await page.waitForURL(`${url}/developers/receivers`);
  await page.getByRole("button", { name: email }).click();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByText("Signs out whom the ID token names").waitFor();
  await page.getByRole("button", { name: "Yes, sign out" }).click();
  await page.waitForURL(`${url}/sign-in**`);
  await page.goto(`${url}/developers`);
  await signIn();
  await page.waitForURL(`${url}/developers`);
  await page.getByRole("button", { name: email }).waitFor();
  // Asks without a session, as the console's first question does.
  expectNoProblems(401);
});

it("in a browser: explains a refusal, keeps where the person was going, and lets the person use another account", async () => {
  const { sub, email } = await newMember();
  const { page, expectNoProblems, expectAccessible } = await browser.open();
  const enter = async (subject: string, address: string): Promise<void> => {
    await page.getByLabel("Subject").fill(subject);
    await page.getByLabel("E-mail").fill(address);
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await page.goto(`${url}/sign-in?return_to=/developers/keys`);
  await page.getByRole("link", { name: "Sign in with Test ID" }).click();
  await enter("stranger", "stranger@example.ph");
  await page.getByText("You are not a member of a brand").waitFor();
  await page.getByText(/^Request id/).waitFor();
  await expectAccessible();
  await page.getByRole("link", { name: "Use another account" }).click();
  await enter(sub, email);
  await page.waitForURL(`${url}/developers/keys`);
  expectNoProblems();
});

it("finishes two attempts of one browser, whichever comes first", async () => {
  const account = await newMember();
  const { page, expectNoProblems } = await browser.open();
  const second = await page.context().newPage();
  for (const [tab, path] of [
    [page, "/developers/keys"],
    [second, "/developers/receivers"],
  ] as const) {
    await tab.goto(`${url}${path}`);
    await tab.getByRole("link", { name: "Sign in with Test ID" }).click();
    await tab.getByLabel("Subject").waitFor();
  }
  for (const tab of [second, page]) {
    await tab.getByLabel("Subject").fill(account.sub);
    await tab.getByLabel("E-mail").fill(account.email);
    await tab.getByRole("button", { name: "Continue" }).click();
    await tab.getByRole("navigation").waitFor();
  }
  expect([page.url(), second.url()]).toEqual([`${url}/developers/keys`, `${url}/developers/receivers`]);
  expectNoProblems(401);
});

describe("refuses", () => {
  it.each([
    ["no", "email_not_verified"],
    ["omitted", "email_not_verified"],
  ] as const)("an address that is verified: %s", async (verified, error) => {
    const visitor = new Visitor();
    expect(await signInAs(visitor, { ...(await newMember()), verified })).toEqual(refused(error));
    expect(sessionOf(visitor)).toBeUndefined();
  });

  it("a person who is no member, and makes no one a member", async () => {
    const account = { sub: "unknown", email: "unknown@example.ph" };
    expect(await signInAs(new Visitor(), account)).toEqual(refused("no_membership"));
    expect((await stack.accounts.listMemberships({ email: account.email }, callContext())).memberships).toEqual([]);
  });

  it("another account with the address of a member, until it is unlinked", async () => {
    const account = await newMember();
    expect(await signInAs(new Visitor(), account)).toEqual(signedIn);
    const other = { ...account, sub: `${account.sub}-other` };
    expect(await signInAs(new Visitor(), other, "?return_to=/developers/keys")).toEqual(refused("identity_conflict", "/developers/keys"));
    await stack.signIn.unlinkIdentities({ email: account.email }, callContext());
    expect(await signInAs(new Visitor(), other)).toEqual(signedIn);
    expect(await signInAs(new Visitor(), account)).toEqual(refused("identity_conflict"));
  });

  it("a subject that no provider may send", async () => {
    expect(await signInAs(new Visitor(), { ...(await newMember()), sub: "with a blank" })).toEqual(refused("invalid_response"));
  });

  it("what the person has cancelled", async () => {
    const visitor = new Visitor();
    const { location } = await visitor.send(`${url}/auth/sign-in`);
    const interaction = await visitor.follow(location, provider.issuer);
    const sent = await visitor.send(interaction, { action: "cancel" });
    expect(await finish(visitor, await visitor.follow(sent.location, provider.issuer))).toEqual(refused("access_denied"));
  });

  it("a response that is repeated, and keeps the session it made", async () => {
    const visitor = new Visitor();
    const callback = await callbackFor(visitor, await newMember());
    expect(await finish(visitor, callback)).toEqual(signedIn);
    const session = sessionOf(visitor);
    expect(await finish(visitor, callback)).toEqual(refused("attempt_unknown", null));
    expect(sessionOf(visitor)).toBe(session);
    await consoleCaller(url, cookieHeader(visitor)).call("session.me", {});
  });

  it("a response of another browser: it signs no one in to the sender's account", async () => {
    const callback = await callbackFor(new Visitor(), await newMember());
    const victim = new Visitor();
    await callbackFor(victim, await newMember());
    expect(await finish(victim, callback)).toEqual(refused("attempt_unknown", null));
    expect(sessionOf(victim)).toBeUndefined();
  });

  it("a code of another attempt, though the state is the browser's own", async () => {
    const stolen = new URL(await callbackFor(new Visitor(), await newMember())).searchParams.get("code") ?? "";
    const attacker = new Visitor();
    const callback = new URL(await callbackFor(attacker, await newMember()));
    callback.searchParams.set("code", stolen);
    expect(await finish(attacker, callback.href)).toEqual(refused("invalid_response"));
    expect(sessionOf(attacker)).toBeUndefined();
  });

  it("a response that claims to be of another provider", async () => {
    const visitor = new Visitor();
    const callback = new URL(await callbackFor(visitor, await newMember()));
    callback.searchParams.set("iss", "https://evil.example");
    expect(await finish(visitor, callback.href)).toEqual(refused("invalid_response"));
  });

  it("an attempt that took longer than ten minutes, and a cookie that no console has sealed", async () => {
    for (const [secret, minutesAgo, expected] of [
      [provider.clientSecret, 11, refused("attempt_expired", "/developers/keys")],
      [provider.clientSecret, 9, { path: "/developers/keys", error: null, returnTo: null }],
      ["another secret of the console", 0, refused("attempt_unknown", null)],
    ] as const) {
      const visitor = new Visitor();
      const callback = await callbackFor(visitor, await newMember(), "?return_to=/developers/keys");
      const [name = "", value = ""] = [...visitor.cookiesOf(url)].find(([cookie]) => cookie.startsWith("sign-in-")) ?? [];
      visitor.plantCookie(url, name, await sealAgain(value, secret, minutesAgo));
      expect([minutesAgo, await finish(visitor, callback)]).toEqual([minutesAgo, expected]);
    }
  });

  it.each([
    ["nothing", ""],
    ["no state", "?code=x"],
    ["an unknown state", "?code=x&state=y"],
    ["two states", "?code=x&state=y&state=z"],
    ["a huge state", `?code=x&state=${"s".repeat(6_000)}`],
    ["control characters", "?code=%00&state=%0d%0aSet-Cookie:%20session=x"],
    ["broken escapes", "?code=%zz&state=%"],
    ["an error without a state", "?error=access_denied"],
    ["an error with markup", "?error=%3Cscript%3E&state=x"],
  ])("a callback with %s", async (_, query) => {
    expect(await finish(new Visitor(), `${url}/auth/callback${query}`)).toEqual(refused("attempt_unknown", null));
  });
});

it("returns to the console's own pages only", async () => {
  const account = await newMember();
  for (const [returnTo, path] of [
    ["/developers/keys", "/developers/keys"],
    ["//evil.example", "/developers"],
    ["/\\evil.example", "/developers"],
    ["https://evil.example/developers", "/developers"],
    ["/developers/..//evil.example", "/developers"],
    ["/%2fevil.example", "/developers"],
    ["/\t/evil.example", "/developers"],
    ["/auth/sign-in", "/developers"],
    [`/developers?${"x".repeat(6_000)}`, "/developers"],
  ] as const) {
    const query = `?${new URLSearchParams({ return_to: returnTo }).toString()}`;
    expect([returnTo, await signInAs(new Visitor(), account, query)]).toEqual([returnTo, { path, error: null, returnTo: null }]);
  }
  // A second one is ignored like any unknown parameter.
  expect(await signInAs(new Visitor(), account, "?return_to=/developers/keys&return_to=//evil.example")).toMatchObject({
    path: "/developers/keys",
  });
});

it("takes the provider's way back from PUBLIC_URL, whatever host a request names", async () => {
  const { location } = await new Visitor().send(`${url}/auth/sign-in`, undefined, { "x-forwarded-host": "evil.example" });
  expect(new URL(location).searchParams.get("redirect_uri")).toBe(`${url}/auth/callback`);
  const elsewhere = await new Visitor().send(`${stack.url}/auth/sign-in?return_to=/developers/keys`);
  expect([elsewhere.status, elsewhere.location]).toEqual([307, `${url}/auth/sign-in?return_to=/developers/keys`]);
});

it("sends a challenge, a nonce and a state, each new for each attempt, and no secret", async () => {
  const sent = await Promise.all([1, 2].map(async () => new URL((await new Visitor().send(`${url}/auth/sign-in`)).location).searchParams));
  for (const parameters of sent) {
    expect(Object.fromEntries(parameters)).toMatchObject({ response_type: "code", scope: "openid email", code_challenge_method: "S256" });
    expect(parameters.toString()).not.toContain(provider.clientSecret);
  }
  for (const name of ["state", "nonce", "code_challenge"]) expect(new Set(sent.map((parameters) => parameters.get(name))).size).toBe(2);
});

it("gives a new session at each sign-in and ends the earlier one", async () => {
  const account = await newMember();
  const visitor = new Visitor();
  visitor.plantCookie(url, `session_${new URL(url).port}`, "fixed-by-someone-else");
  await signInAs(visitor, account);
  const first = cookieHeader(visitor);
  expect(sessionOf(visitor)).toMatch(/^[\w-]{43}$/);
  await signInAs(visitor, account);
  expect(cookieHeader(visitor)).not.toBe(first);
  expect(await consoleCaller(url, first).send("session.me", {})).toEqual({ status: 401, code: "invalid_session" });
});

it("keeps six attempts of a browser at most, so that its requests stay small", async () => {
  const visitor = new Visitor();
  const names = (): string[] => [...visitor.cookiesOf(url).keys()].filter((name) => name.startsWith("sign-in-"));
  for (let i = 0; i < 8; i += 1) await visitor.send(`${url}/auth/sign-in`);
  expect(names()).toHaveLength(6);
  expect(await signInAs(visitor, await newMember())).toEqual(signedIn);
  expect(names()).toHaveLength(5);
});

it("answers GET alone, so that a preview uses nothing up", async () => {
  for (const path of ["/auth/sign-in", "/auth/callback"]) {
    for (const method of ["HEAD", "POST"]) {
      const response = await fetch(`${url}${path}`, { method, redirect: "manual" });
      expect([path, method, response.status, response.headers.get("allow")]).toEqual([path, method, 405, "GET"]);
    }
  }
});

it("uses no sign-in links unless they are switched on", async () => {
  const visitor = consoleCaller(url, "");
  expect(await visitor.call("sign_in.options", {})).toMatchObject({ links: false, provider: "Test ID" });
  const { token } = await stack.signIn.createSignInLink({ email: brand.owner, ttl_seconds: 0 }, callContext());
  for (const operation of ["sign_in.peek", "sign_in.redeem"] as const) {
    expect(await visitor.send(operation, { token }, undefined)).toEqual({ status: 404, code: "sign_in_link_unknown" });
  }
});

it("signs out without the provider too, and says nothing of it", async () => {
  const visitor = new Visitor();
  await signInAs(visitor, await newMember());
  const caller = consoleCaller(url, cookieHeader(visitor));
  const { location } = await caller.call("session.sign_out", {});
  const { origin, searchParams } = new URL(location ?? "");
  expect([origin, searchParams.get("client_id"), searchParams.get("post_logout_redirect_uri")]).toEqual([
    provider.issuer,
    "console",
    `${url}/sign-in`,
  ]);
  expect(await caller.send("session.me", {})).toEqual({ status: 401, code: "invalid_session" });
  // Ended already: there is nothing to sign out of.
  expect(await caller.call("session.sign_out", {})).toEqual({ location: null });
});

it.each(["session.sign_out", "session.sign_out_everywhere"] as const)(
  "%s names the session that the provider ends, so that it asks nothing; no other request carries the name",
  async (operation) => {
    const visitor = new Visitor();
    await signInAs(visitor, await newMember());
    const caller = consoleCaller(url, cookieHeader(visitor, `/console/api/${operation}`));
    const { location } = await caller.call(operation, {});
    expect(new URL(location ?? "").searchParams.get("id_token_hint")).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(cookieHeader(visitor, "/console/api/session.me")).not.toContain("id-token");
  },
);

it("logs why a sign-in failed, without codes, tokens, states, addresses or the secret", async () => {
  const visitor = new Visitor();
  const account = await newMember();
  const callback = new URL(await callbackFor(visitor, account));
  const { code = "", state = "" } = Object.fromEntries(callback.searchParams);
  await finish(visitor, callback.href);
  const log = stack.gateways[0].console?.process.output() ?? "";
  expect(log).toContain('"failure":"identity_conflict"');
  expect(log).toContain('"failure":"provider_unreachable"');
  expect(log).toMatch(/ECONNREFUSED/);
  const [gatewayLog, accountsLog] = [stack.gateways[0].process.output(), stack.processes.accounts.output()];
  for (const secret of [code, state, provider.clientSecret, sessionOf(visitor) ?? "", account.email, "@example.ph"]) {
    expect([secret, log.includes(secret), gatewayLog.includes(secret)]).toEqual([secret, false, false]);
  }
  // No ID token, and no access token: both processes log at debug.
  for (const each of [log, gatewayLog, accountsLog]) expect(each).not.toMatch(/eyJ[\w-]{20}/);
});

it("trusts no provider that names another issuer than was configured", async () => {
  const other = provider.issuer.replace("127.0.0.1", "localhost");
  const program = `
    import { openProvider } from ${compiled("provider.js")};
    import { diagnose } from ${compiled("failures.js")};
    const settings = ${JSON.stringify({ ...provider.settings, OIDC_ISSUER: other, PUBLIC_URL: url })};
    const attempt = { state: "s", nonce: "n", verifier: "v", returnTo: "/developers" };
    const error = await openProvider(settings).authorizationUrl(attempt, false).catch((thrown) => thrown);
    process.stdout.write(JSON.stringify(diagnose(error)));`;
  expect(JSON.parse(await runModule(program))).toEqual({
    failure: "provider_error",
    fields: { cause: "the provider names another issuer than OIDC_ISSUER", provider_issuer: provider.issuer },
  });
});

it("refuses one address more attempts than a person makes", async () => {
  let error: string | null = null;
  for (let attempts = 0; attempts < 700 && error === null; attempts += 1) {
    const { location } = await new Visitor().send(`${url}/auth/sign-in`);
    error = new URL(location).searchParams.get("error");
  }
  expect(error).toBe("rate_limited");
});

const compiled = (file: string): string => JSON.stringify(join(process.cwd(), "console/server/dist/sign-in", file));

/** Runs what jest cannot load, and returns what it writes. */
const runModule = async (program: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])).stdout;

/** Returns the attempt of a cookie, sealed as a console with another secret or clock would. */
const sealAgain = (cookie: string, secret: string, minutesAgo: number): Promise<string> =>
  runModule(`
    import { sealedValues } from ${compiled("sealed-values.js")};
    const { value } = await sealedValues(${JSON.stringify(provider.clientSecret)}, "sign-in attempt").open(${JSON.stringify(cookie)});
    const then = new Date(Date.now() - ${minutesAgo * 60_000});
    process.stdout.write(await sealedValues(${JSON.stringify(secret)}, "sign-in attempt").seal(value, 600, then));`);
