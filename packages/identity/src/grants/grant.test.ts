import { randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { GRANT_SECONDS, grantKeyFrom, signGrant, verifyGrant, type Grant } from "./grant.ts";

const key = grantKeyFrom("7", randomBytes(32));
const other = grantKeyFrom("7", randomBytes(32));
const findKey = (id: string) => {
  if (id !== key.id) throw new Error(`no key ${id}`);
  return key.secret;
};
const grant: Grant = {
  email: "ana@ulap.example",
  via: "ben@ulap.example",
  limitedTo: "brd_1",
  session: randomBytes(32).toString("base64url"),
  brand: { id: "brd_1", role: "member" },
  client: { address: "203.0.113.7", browser: "Firefox" },
};
const ISSUED = new Date("2026-11-24T08:00:00.000Z");
const after = (seconds: number): Date => new Date(ISSUED.getTime() + seconds * 1_000);
const INVALID = { kind: "invalid_session" };

it("says what accounts has signed, to its audience, for 60 s and the clocks' skew", async () => {
  const signed = await signGrant(grant, "plans", key, ISSUED);
  for (const seconds of [0, GRANT_SECONDS - 1, GRANT_SECONDS + 9])
    expect(await verifyGrant(signed, "plans", findKey, after(seconds))).toEqual(grant);
  await expect(verifyGrant(signed, "plans", findKey, after(GRANT_SECONDS + 10))).rejects.toMatchObject({ kind: "timeout" });
  for (const audience of ["accounts", "webhook"] as const)
    await expect(verifyGrant(signed, audience, findKey, ISSUED)).rejects.toMatchObject(INVALID);
});

it("is unavailable to a process whose clock is behind, which cannot tell whether it is valid", async () => {
  const signed = await signGrant(grant, "plans", key, ISSUED);
  expect(await verifyGrant(signed, "plans", findKey, after(-10))).toEqual(grant);
  await expect(verifyGrant(signed, "plans", findKey, after(-11))).rejects.toMatchObject({ kind: "unavailable" });
  await expect(verifyGrant(await signGrant(grant, "plans", other, ISSUED), "plans", findKey, after(-11))).rejects.toMatchObject(INVALID);
});

it("has no brand and no owner's link for a call of none", async () => {
  const plain = { ...grant, via: null, limitedTo: null, brand: null };
  expect(await verifyGrant(await signGrant(plain, "webhook", key, ISSUED), "webhook", findKey, ISSUED)).toEqual(plain);
});

it("every process with the same secret has the same key, and another secret another", async () => {
  const secret = randomBytes(40);
  const [one, two] = [grantKeyFrom("1", secret), grantKeyFrom("1", secret)];
  expect(two.secret.export()).toEqual(one.secret.export());
  expect(one.secret.export()).toHaveLength(32);
  expect(grantKeyFrom("1", randomBytes(40)).secret.export()).not.toEqual(one.secret.export());
});

it("refuses what others have signed, what was changed, and what is no grant", async () => {
  const signed = await signGrant(grant, "plans", key, ISSUED);
  const [header = "", payload = "", signature = ""] = signed.split(".");
  const changed = Buffer.from(payload, "base64url").toString().replace("member", "owner");
  const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "grant+jwt" })).toString("base64url");
  const claims = { sid: grant.session, sub: grant.email, iss: "accounts", aud: "plans", exp: ISSUED.getTime() / 1_000 + 60 };
  const made = (alg: string, typ: string) => new SignJWT(claims).setProtectedHeader({ alg, typ, kid: key.id }).sign(key.secret);
  for (const forged of [
    await signGrant(grant, "plans", other, ISSUED),
    `${header}.${Buffer.from(changed).toString("base64url")}.${signature}`,
    `${unsigned}.${payload}.`,
    await made("HS512", "grant+jwt"),
    await made("HS256", "JWT"),
    "",
    "a.b.c",
    "x".repeat(10_000),
  ])
    await expect(verifyGrant(forged, "plans", findKey, ISSUED)).rejects.toMatchObject(INVALID);
});

it("passes on why a key cannot be found", async () => {
  const signed = await signGrant(grant, "plans", { ...key, id: "8" }, ISSUED);
  await expect(verifyGrant(signed, "plans", findKey, ISSUED)).rejects.toThrow("no key 8");
});
