import { inspect } from "node:util";
import type { Provider } from "@brand-records/identity";
import type { Logger } from "@brand-records/telemetry";
import { newTestKey, type TestClaims, TestIssuer, withToken } from "@brand-records/testkit";
import { base64url, type CryptoKey, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { peopleOf } from "../../test/people.ts";
import { expectRefusal, servedAccounts, settled } from "../../test/serve-accounts.ts";
import { openIdentify, openSigningKeys } from "../id-tokens/identify.ts";

/** One promise: a sign-in with a provider needs an ID token that the provider has signed for this console and attempt, and uses it up. */

const logged: Record<string, unknown>[] = [];
const log = { warn: (fields: Record<string, unknown>) => logged.push(fields) } as unknown as Logger;
let provider: TestIssuer;

beforeAll(async () => {
  provider = await TestIssuer.start();
});
const served = servedAccounts(() => ({ identify: openIdentify(provider.settings), log }));
const people = peopleOf(served);
afterAll(() => provider.stop());
beforeEach(() => {
  logged.length = 0;
});

type Request = ReturnType<typeof withToken>;
const send = async (request: Request, to = served) => (await to.signIn.signInWithIdentity(request)).session;

/** Expects a sign-in to be refused by a check, which the log names; neither the log nor the caller sees anything of the token. */
async function expectRefused(check: string, request: Request, to = served): Promise<void> {
  const error = await send(request, to).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: "invalid_id_token", message: `The ID token is refused: ${check}. Sign in again.` });
  expect(logged.at(-1)).toEqual({ request_id: "test", check });
}

/** A second process, which has read neither configuration nor keys. */
const anotherProcess = () => served.alsoWith({ identify: openIdentify(provider.settings) });

it("signs in the person of the token, whatever the console says beside it", async () => {
  const { email } = await people.newPerson();
  const session = await send(await provider.request({ email }));
  expect(session).toMatchObject({ email });
  expect((await people.get(session?.token ?? "")).session).toMatchObject({ email, issuer: provider.issuer });
});

it.each<[string, string, TestClaims]>([
  ["of another issuer", "issuer", { iss: "https://id.example" }],
  ["whose issuer is written otherwise", "issuer", { iss: "http://127.0.0.1:80" }],
  ["for another client", "audience", { aud: "webshop" }],
  ["for others only", "audience", { aud: ["webshop", "blog"] }],
  ["for several clients that names none", "azp", { aud: ["console", "webshop"] }],
  ["for several clients that another has asked for", "azp", { aud: ["console", "webshop"], azp: "webshop" }],
  ["for this client that another has asked for", "azp", { azp: "webshop" }],
  ["that has expired", "expired", { iat: -100, exp: -31 }],
  ["that is not valid yet", "not yet valid", { nbf: 40 }],
  ["of the future", "not yet valid", { iat: 40 }],
  ["that is older than ten minutes", "older than 10 minutes", { iat: -631, exp: 3_600 }],
])("refuses a token %s", async (_, check, changes) => {
  const { email } = await people.newPerson();
  await expectRefused(check, await provider.request({ email, ...changes }));
  expect(await people.sessionsOf(email)).toBe(0);
});

it.each<[string, TestClaims]>([
  ["for several clients that this one has asked for", { aud: ["console", "webshop"], azp: "console" }],
  ["for this client alone, in a list", { aud: ["console"], azp: "console" }],
  ["of a clock that differs by 20 s", { iat: 20, nbf: 20 }],
  ["that expired 20 s ago", { iat: -60, exp: -20 }],
  ["that is ten minutes old", { iat: -600, exp: 3_600 }],
])("accepts a token %s", async (_, changes) => {
  const { email } = await people.newPerson();
  expect(await send(await provider.request({ email, ...changes }))).toMatchObject({ email });
});

it("refuses the token of another attempt, and one without a nonce", async () => {
  const { email } = await people.newPerson();
  const { id_token } = await provider.request({ email, nonce: "theirs" });
  for (const nonce of ["ours", "", "theirs "]) await expectRefused("nonce", withToken(id_token, nonce));
  const empty = await provider.sign(provider.claims({ email, nonce: "" }));
  await expectRefused("nonce", withToken(empty, ""));
  await expectRefused("missing claim", withToken(await provider.sign(provider.claims({ email, nonce: undefined })), ""));
});

it.each(["sub", "exp", "iat", "iss", "aud"])("refuses a token without the claim %s", async (claim) => {
  const { [claim]: _, ...claims } = provider.claims();
  await expectRefused("missing claim", withToken(await provider.sign(claims)));
});

it("refuses what others have signed, also under the name of the provider's key, and what was changed", async () => {
  const { email } = await people.newPerson();
  const claims = provider.claims({ email });
  const { kid } = provider.key;
  await expectRefused("signature", withToken(await provider.sign(claims, await newTestKey(kid))));
  const [header = "", , signature = ""] = (await provider.sign(provider.claims())).split(".");
  await expectRefused("signature", withToken([header, base64url.encode(JSON.stringify(claims)), signature].join(".")));
  await expectRefused("key", withToken(await provider.sign(claims, await newTestKey("unknown"))));
  expect(await people.sessionsOf(email)).toBe(0);
});

it("refuses an unsigned token, and one with a shared secret, though the provider lists both", async () => {
  const { email } = await people.newPerson();
  const claims = provider.claims({ email });
  await expectRefused("algorithm", withToken(new UnsecuredJWT(claims).encode()));
  const header = base64url.encode(JSON.stringify({ alg: "none" }));
  await expectRefused("algorithm", withToken(`${header}.${base64url.encode(JSON.stringify(claims))}.x`));
  const { kid, publicJwk } = provider.key;
  const publicKey = (await importJWK(publicJwk, "ES256", { extractable: true })) as CryptoKey;
  for (const secret of [await exportSPKI(publicKey), JSON.stringify(publicJwk)]) {
    const signed = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid }).sign(Buffer.from(secret));
    await expectRefused("algorithm", withToken(signed));
  }
});

it("accepts RS256 alone from a provider that does not say how it signs", async () => {
  provider.metadata = { id_token_signing_alg_values_supported: undefined };
  const other = await anotherProcess();
  await expectRefused("algorithm", await provider.request({}), other);
  provider.metadata = {};
});

it("refuses what is no token, and one of more than 64 KiB, whatever it holds", async () => {
  const long = await provider.sign({ ...provider.claims(), groups: "x".repeat(65_536) });
  for (const token of ["x", "..", `${base64url.encode("[]")}.${base64url.encode("{}")}.x`, long])
    await expectRefused("form", withToken(token));
});

describe("a token signs in once", () => {
  it("one after the other, by any process", async () => {
    const { email } = await people.newPerson();
    const request = await provider.request({ email });
    expect(await send(request)).toMatchObject({ email });
    for (const to of [served, await anotherProcess()]) await expectRefused("used before", request, to);
    expect(await people.sessionsOf(email)).toBe(1);
  });

  it("at the same time, by two processes", async () => {
    const other = await anotherProcess();
    for (let round = 0; round < 5; round += 1) {
      const { email } = await people.newPerson();
      const request = await provider.request({ email });
      const { done } = await settled(Array.from({ length: 6 }, (_, i) => send(request, i % 2 === 0 ? served : other)));
      expect(done).toHaveLength(1);
      expect(await people.sessionsOf(email)).toBe(1);
    }
  });

  it("also with its signature written otherwise, and with the second signature of ECDSA", async () => {
    const { email } = await people.newPerson();
    const request = await provider.request({ email });
    await send(request);
    const second = request.id_token.replace(/[^.]+$/, (signature) => secondSignature(signature));
    expect(second).not.toBe(request.id_token);
    await expectRefused("used before", withToken(second, request.nonce));
    expect(await people.sessionsOf(email)).toBe(1);
  });

  it("but again after a refusal that made no session", async () => {
    const [{ brand }, email] = [await people.newPerson(), `late@${provider.key.kid}.example`];
    const request = await provider.request({ email });
    await expectRefusal(send(request), "no_membership");
    await people.addMember(brand, email);
    expect(await send(request)).toMatchObject({ email });
  });

  it("and is stored as a hash alone, for as long as any process accepts it", async () => {
    const { email } = await people.newPerson();
    const before = await served.db.query<{ token_hash: Buffer }>("select token_hash from accounts.used_id_tokens");
    await send(await provider.request({ email, iat: -100, exp: 10_000 }));
    const [row, ...more] = await served.db.query<{ length: number; seconds: number }>(
      `select octet_length(token_hash) as length, round(extract(epoch from expires_at - now()))::int as seconds
         from accounts.used_id_tokens where token_hash <> all($1)`,
      [before.map(({ token_hash }) => token_hash)],
    );
    expect([row?.length, more]).toEqual([32, []]);
    // Ten minutes from when it was issued, and twice the 30 s by which clocks may differ.
    expect(row?.seconds).toBeGreaterThan(550);
    expect(row?.seconds).toBeLessThanOrEqual(561);
  });
});

/** Returns the other valid form of an ECDSA signature: (r, -s) beside (r, s). */
function secondSignature(signature: string): string {
  const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const bytes = Buffer.from(signature, "base64url");
  const s = ORDER - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  return Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex")]).toString("base64url");
}

it("reads the provider's keys again for a token with a new one, at most every ten seconds", async () => {
  const { email } = await people.newPerson();
  const to = await anotherProcess();
  expect(await send(await provider.request({ email, sub: "rotated" }), to)).toMatchObject({ email });
  const first = provider.key;
  const bothKeys = () => [first.publicJwk, provider.key.publicJwk];
  await provider.rotate();
  const keysRead = () => provider.requests.filter((path) => path === "/keys").length;
  const read = keysRead();
  const request = await provider.request({ email, sub: "rotated" });
  for (let i = 0; i < 3; i += 1) await expectRefused("key", request, to);
  expect(keysRead()).toBe(read);
  const now = Date.now;
  const clock = jest.spyOn(Date, "now").mockImplementation(() => now() + 10_001);
  try {
    expect(await send(request, to)).toMatchObject({ email });
    await expectRefused("key", withToken(await provider.sign(provider.claims(), first)), to);
    expect(keysRead()).toBe(read + 1);
  } finally {
    // The other tests' process has the first key.
    provider.published = bothKeys();
    provider.key = first;
    clock.mockRestore();
  }
});

it("refuses what the console says of the person without a token", async () => {
  const { email } = await people.newPerson();
  await expectRefused("absent", Object.assign(withToken("", ""), { email }));
  expect(await people.sessionsOf(email)).toBe(0);
});

describe("the address", () => {
  const userInfoReads = () => provider.requests.filter((path) => path === "/userinfo").length;
  const withUserInfo = (accessToken: string, claims: object) => provider.userInfo.set(accessToken, { sub: accessToken, ...claims });

  it("comes from userinfo, with whether it is verified, and is asked for once: until the identity is bound", async () => {
    const { email } = await people.newPerson();
    const [sub, before] = [`sub-${email}`, userInfoReads()];
    withUserInfo(sub, { email, email_verified: true });
    expect(await send(await provider.request({ sub, email_verified: undefined }, sub))).toMatchObject({ email });
    expect(userInfoReads()).toBe(before + 1);
    expect(await send(await provider.request({ sub }, sub))).toMatchObject({ email });
    expect(userInfoReads()).toBe(before + 1);
  });

  it("and whether it is verified are never of two sources", async () => {
    const { email } = await people.newPerson();
    const sub = `sub-${email}`;
    withUserInfo(sub, { email });
    await expectRefusal(send(await provider.request({ sub, email, email_verified: true }, sub)), "email_not_verified");
    withUserInfo(sub, { email_verified: true });
    await expectRefusal(send(await provider.request({ sub, email, email_verified: false }, sub)), "email_not_verified");
    expect(await send(await provider.request({ sub, email, email_verified: true }, sub))).toMatchObject({ email });
  });

  it("is that of the token without an access token, and of a provider without userinfo", async () => {
    const before = userInfoReads();
    const [{ email }, other] = [await people.newPerson(), await people.newPerson()];
    expect(await send(await provider.request({ email }))).toMatchObject({ email });
    provider.metadata = { userinfo_endpoint: undefined };
    expect(await send(await provider.request({ email: other.email }, "token"), await anotherProcess())).toMatchObject({
      email: other.email,
    });
    provider.metadata = {};
    expect(userInfoReads()).toBe(before);
  });

  it("is refused from userinfo about another person, and with an access token that the provider refuses", async () => {
    const { email } = await people.newPerson();
    withUserInfo("of-another", { email, email_verified: true });
    for (const accessToken of ["of-another", "refused"])
      await expectRefused("userinfo", await provider.request({ sub: "mine", email }, accessToken));
    expect(await people.sessionsOf(email)).toBe(0);
  });

  it("is not asked for with an access token that breaks its header, which no log shows", async () => {
    const { email } = await people.newPerson();
    const before = userInfoReads();
    for (const accessToken of ["t0ken\r\nx-evil: 1", "t0ken\n", "t0ken\u00f1", "t0ken\0"]) {
      const request = await provider.request({ sub: "mine", email }, accessToken);
      await expectRefused("userinfo", request);
      const { id_token: idToken, nonce } = request;
      const { readEmail } = await openIdentify(provider.settings)({ idToken, nonce, accessToken });
      expect(inspect(await readEmail().catch((error: unknown) => error), { depth: null })).not.toContain("t0ken");
    }
    expect(userInfoReads()).toBe(before);
  });
});

describe("where the provider cannot be asked, it says unavailable, and the cause", () => {
  const identify = (settings: Parameters<typeof openIdentify>[0]) =>
    openIdentify(settings)({ idToken: "x", nonce: "n", accessToken: undefined });
  const expectUnavailable = async (outcome: Promise<unknown>, cause: string | RegExp): Promise<void> => {
    await expect(outcome).rejects.toMatchObject({
      kind: "unavailable",
      dependency: "openid_provider",
      cause: { message: expect.stringMatching(cause) as string },
    });
  };
  /** The second if the provider closes a kept connection just as it is used. */
  const away = /^accounts could not reach OIDC_ISSUER, or not use its response: (ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/;
  const notReached = "accounts could not reach OIDC_ISSUER, or not use its response";

  it("while it is away, also for bound identities; it works as soon as it is back", async () => {
    const { email } = await people.newPerson();
    const to = await anotherProcess();
    const request = await provider.request({ email });
    await provider.stop();
    await expectRefusal(send(request, to), "unavailable");
    await expectUnavailable(identify(provider.settings), away);
    await provider.startAgain();
    expect(await send(request, to)).toMatchObject({ email });
  });

  it("where its keys or userinfo do not respond", async () => {
    const known = openIdentify(provider.settings);
    const { id_token: idToken, nonce } = await provider.request({});
    const proof = { idToken, nonce, accessToken: "x" };
    const identity = await known(proof);
    await provider.stop();
    await expectUnavailable(identity.readEmail(), away);
    await provider.startAgain();
    provider.metadata = { jwks_uri: `${provider.issuer}/none` };
    const cause = "Expected 200 OK from the JSON Web Key Set HTTP response";
    await expectUnavailable(openIdentify(provider.settings)(proof), `${notReached}: ${cause}`);
    provider.metadata = { jwks_uri: undefined };
    await expectUnavailable(openIdentify(provider.settings)(proof), `${notReached}: the provider's configuration has no jwks_uri`);
    provider.metadata = {};
  });

  it("of one whose keys can be changed on the way", () => {
    const metadata = { issuer: "https://id.example", jwks_uri: "http://id.example/keys" };
    const find = () => openSigningKeys()({ serverMetadata: () => metadata } as unknown as Provider);
    expect(find).toThrow("the provider's jwks_uri is not https");
  });

  it("of one that names another issuer", async () => {
    const OIDC_ISSUER = provider.issuer.replace("127.0.0.1", "localhost");
    const cause = `${notReached}: the provider names another issuer than OIDC_ISSUER: ${provider.issuer}`;
    await expectUnavailable(identify({ ...provider.settings, OIDC_ISSUER }), cause);
  });

  it("without the settings, and names the one to set", async () => {
    await expectUnavailable(identify({ OIDC_TRUST_EMAIL: "false" }), "OIDC_ISSUER is not set for accounts");
    const to = await served.alsoWith({ identify: openIdentify({ OIDC_TRUST_EMAIL: "false" }) });
    await expectRefusal(send(await provider.request({}), to), "unavailable");
  });
});
