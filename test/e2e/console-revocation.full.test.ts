import { startRedisServer, TestIssuer, type RedisServer } from "@brand-records/testkit";
import { consoleCaller, signIn, type ConsoleCaller } from "../console-calls.ts";
import { rawRequest } from "../raw-http.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: what is taken away through one console is gone at once, through every console and every gateway. */

let redisServer: RedisServer;
let provider: TestIssuer;
let stack: Stack;
/** URLs of the two consoles, each behind a gateway of its own. */
let urls: [string, string];
let brand: TestBrand;

beforeAll(async () => {
  redisServer = await startRedisServer();
  provider = await TestIssuer.start();
  // Accounts alone has a provider: the consoles sign people in by links.
  const envOf = { accounts: provider.settings };
  stack = await startStack({ gateways: 2, hasConsole: true, redisUrl: redisServer.url, env: { RATE_LIMIT_PLUS: "10000" }, envOf });
  urls = stack.gateways.map(({ console }) => console?.url ?? "") as [string, string];
  brand = await stack.createBrand();
});
afterAll(async () => {
  await stack?.stop();
  await provider?.stop();
  await redisServer?.stop();
});

/** Signs a person in through the first console. Both then know the session; on loopback each has its own name for the cookie. */
async function atBoth(email: string): Promise<[ConsoleCaller, ConsoleCaller]> {
  const first = await signIn(stack, urls[0], email);
  const token = first.cookie.slice(first.cookie.indexOf("=") + 1);
  return [first, consoleCaller(urls[1], `session_${new URL(urls[1]).port}=${token}`)];
}

async function newMember(role: "owner" | "member"): Promise<string> {
  const email = `${role}${Math.random().toString(36).slice(2)}@${brand.id.slice(4)}.example`;
  await setRole(email, role);
  return email;
}
const setRole = (email: string, role: string) =>
  stack.accounts.addMember({ brand_id: brand.id, email, role, acting_member: brand.owner }, callContext());

it("a key that one console revokes is refused with the next request at both gateways, though both have cached it", async () => {
  const [first, second] = await atBoth(brand.owner);
  const { key, secret } = await first.call("keys.create", { brand_id: brand.id, name: "Both", may_prepare: false });
  const statuses = (): Promise<number[]> =>
    Promise.all([0, 1].map(async (gateway) => (await stack.get("/api/v1/links", secret, gateway)).status));
  for (let round = 0; round < 3; round += 1) expect(await statuses()).toEqual([200, 200]);
  await first.call("keys.revoke", { brand_id: brand.id, key_id: key.id });
  expect(await statuses()).toEqual([401, 401]);
  expect((await second.call("keys.list", { brand_id: brand.id })).keys.find(({ id }) => id === key.id)?.revoked_by).toBe(brand.owner);
});

it("an owner who becomes a member does nothing of an owner's with the next call at both consoles", async () => {
  const email = await newMember("owner");
  const callers = await atBoth(email);
  for (const caller of callers) expect((await caller.send("audit.list", { brand_id: brand.id })).status).toBe(200);
  await setRole(email, "member");
  for (const caller of callers) {
    expect((await caller.send("audit.list", { brand_id: brand.id })).code).toBe("owner_required");
    expect((await caller.send("keys.create", { brand_id: brand.id, name: "Late", may_prepare: false })).code).toBe("owner_required");
    expect((await caller.send("keys.list", { brand_id: brand.id })).status).toBe(200);
  }
});

it("a removed member sees nothing of the brand with the next call at both consoles, and keeps another brand", async () => {
  const email = await newMember("member");
  const other = await stack.createBrand();
  await stack.accounts.addMember({ brand_id: other.id, email, role: "member", acting_member: other.owner }, callContext());
  const callers = await atBoth(email);
  for (const caller of callers) expect((await caller.call("session.me", {})).memberships).toHaveLength(2);
  await stack.accounts.removeMember({ brand_id: brand.id, email, acting_member: brand.owner }, callContext());
  for (const caller of callers) {
    expect((await caller.send("keys.list", { brand_id: brand.id })).code).toBe("not_found");
    expect((await caller.call("session.me", {})).memberships.map(({ brand_id }) => brand_id)).toEqual([other.id]);
  }
  await stack.accounts.removeMember({ brand_id: other.id, email, acting_member: other.owner }, callContext());
  for (const caller of callers) expect((await caller.send("session.me", {})).code).toBe("invalid_session");
});

it("a member who is removed while a call's last byte is held back gets nothing for it, from the console itself and through its gateway", async () => {
  const listening = stack.gateways[0].console?.process.ready as { readonly port: number } | undefined;
  const consoleUrl = `http://127.0.0.1:${listening?.port}`;
  for (const url of [consoleUrl, urls[0]]) {
    const email = await newMember("member");
    const [caller] = await atBoth(email);
    const body = JSON.stringify({ brand_id: brand.id });
    const head = [
      "POST /console/api/keys.list HTTP/1.1",
      `Host: ${new URL(urls[0]).host}`,
      `Cookie: ${caller.cookie}`,
      "Sec-Fetch-Site: same-origin",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ].join("\r\n");
    const pieces = async function* (): AsyncGenerator<string> {
      yield `${head}\r\n\r\n${body.slice(0, -1)}`;
      expect((await caller.send("keys.list", { brand_id: brand.id })).status).toBe(200);
      await stack.accounts.removeMember({ brand_id: brand.id, email, acting_member: brand.owner }, callContext());
      yield body.slice(-1);
    };
    // A session needs a brand.
    expect(await rawRequest(url, pieces())).toMatchObject({ status: 401, body: expect.stringContaining("invalid_session") });
  }
});

it("a session that is signed out at one console is over at the other, and the person's other sessions go on", async () => {
  const [first, second] = await atBoth(brand.owner);
  const [elsewhere] = await atBoth(brand.owner);
  expect((await second.send("session.me", {})).status).toBe(200);
  expect(await first.call("session.sign_out", {})).toEqual({ location: null });
  for (const caller of [first, second]) expect((await caller.send("session.me", {})).code).toBe("invalid_session");
  expect((await elsewhere.send("session.me", {})).status).toBe(200);
});

it("a person who is unlinked from the provider is signed out at both consoles only if there was something to unlink", async () => {
  const email = await newMember("member");
  const callers = await atBoth(email);
  expect(await stack.signIn.unlinkIdentities({ email }, callContext())).toEqual({ unlinked: 0 });
  for (const caller of callers) expect((await caller.send("session.me", {})).status).toBe(200);
  await stack.signIn.signInWithIdentity(await provider.request({ sub: email, email }), callContext());
  expect(await stack.signIn.unlinkIdentities({ email }, callContext())).toEqual({ unlinked: 1 });
  for (const caller of callers) expect((await caller.send("session.me", {})).code).toBe("invalid_session");
});
