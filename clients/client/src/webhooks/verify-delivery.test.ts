import { createHmac, randomBytes } from "node:crypto";
import { DeliveryError, type DeliveryProblem } from "./delivery-error.ts";
import { isKnownEvent } from "./events.ts";
import { signDelivery } from "./sign-delivery.ts";
import { verifyDelivery, type DeliveryHeaders, type VerifyOptions } from "./verify-delivery.ts";

/** One promise: only what the service signed, unchanged and lately, is an event. Signatures are made without the client's code. */

type Sent = Record<string, string | string[] | undefined>;

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;
const [SECRET, NEXT, OTHER] = [newSecret(), newSecret(), newSecret()];
const NOW = 1_795_227_310;
const ID = "evt_01m7e9rkgsf6p8ke7n67az5qq0";

const eventBody = (fields: object = {}): string =>
  JSON.stringify({ id: ID, type: "payout.paid", data: { id: "po_1", amount_centavos: 9_007_199_254_740_991 }, ...fields });
const BODY = eventBody();

const hmac = (key: string | Buffer, text: string, encoding: "hex" | "base64") => createHmac("sha256", key).update(text).digest(encoding);
const decoded = (secret: string): Buffer => Buffer.from(secret.slice("whsec_".length), "base64");

function own(body = BODY, secret = SECRET, timestamp: string | number = NOW): Sent {
  return {
    "x-service-event": "payout.paid",
    "x-service-timestamp": String(timestamp),
    "x-service-signature": `sha256=${hmac(secret, `${timestamp}.${body}`, "hex")}`,
    "x-service-attempt": "1",
  };
}

const v1 = (body: string, secret: string, timestamp: string | number, id = ID): string =>
  `v1,${hmac(decoded(secret), `${id}.${timestamp}.${body}`, "base64")}`;

function standard(body = BODY, secret = SECRET, timestamp: string | number = NOW): Sent {
  return { "webhook-id": ID, "webhook-timestamp": String(timestamp), "webhook-signature": v1(body, secret, timestamp) };
}

const both = (...given: Parameters<typeof own>): Sent => ({ ...own(...given), ...standard(...given) });

const without = (headers: Sent, ...names: string[]): Sent =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

const verify = (headers: DeliveryHeaders, body = BODY, secrets: string | string[] = SECRET, options: VerifyOptions = {}) =>
  verifyDelivery(body, headers, secrets, { now: NOW, ...options });

describe("accepts", () => {
  it.each<[name: string, headers: Sent, secrets?: string | string[]]>([
    ["both signatures", both()],
    ["the service's own alone", own()],
    ["that of Standard Webhooks alone", standard()],
    ["the old secret's during a rotation", both(), [SECRET, NEXT]],
    ["secrets in one text, with commas", both(), `${NEXT}, ${SECRET},`],
    ["the next secret's in webhook-signature, where the own is still the old one's", { ...own(), ...standard(BODY, NEXT) }, NEXT],
    ["two signatures in webhook-signature", { ...standard(), "webhook-signature": `${v1(BODY, NEXT, NOW)} ${v1(BODY, SECRET, NOW)}` }],
    ["beside signatures of versions to come", { ...standard(), "webhook-signature": `v2,abc ${v1(BODY, SECRET, NOW)} v1a,abc=` }],
    ["names in capitals", Object.fromEntries(Object.entries(both()).map(([name, value]) => [name.toUpperCase(), value]))],
    ["a timestamp 300 s old", both(BODY, SECRET, NOW - 300)],
    ["a timestamp 300 s ahead", both(BODY, SECRET, NOW + 300)],
    ["a later attempt", { ...both(), "x-service-attempt": "10" }],
    ["repeated headers that are none of the delivery's", { ...both(), "set-cookie": ["a", "b"], cookie: undefined }],
  ])("%s", async (_, headers, secrets = SECRET) => {
    expect(await verify(headers, BODY, secrets)).toEqual(JSON.parse(BODY));
  });

  it("a body as text, bytes, a part of a buffer and an ArrayBuffer, and headers as Headers", async () => {
    const headers = new Headers(both() as Record<string, string>);
    const bytes = Buffer.from(`..${BODY}..`).subarray(2, -2);
    for (const body of [BODY, bytes, new Uint8Array(bytes), new Uint8Array(bytes).buffer]) {
      expect(await verifyDelivery(body, headers, SECRET, { now: NOW })).toEqual(JSON.parse(BODY));
    }
  });

  it("another word in the header names, and another tolerance, if they are given", async () => {
    const acme = Object.fromEntries(
      Object.entries(own(BODY, SECRET, NOW - 900)).map(([name, value]) => [name.replace("service", "Acme"), value]),
    );
    expect(await verify(acme, BODY, SECRET, { headerWord: "acme", toleranceSeconds: 900 })).toEqual(JSON.parse(BODY));
    await expect(verify(acme, BODY, SECRET, { headerWord: "acme", toleranceSeconds: 899 })).rejects.toThrow("more than 899 s");
  });

  it("the delivery of docs/webhooks.md by the clock of its time, and by the machine's clock one of now", async () => {
    const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const body = JSON.stringify({ ...(JSON.parse(BODY) as object) });
    const signed = await signDelivery(body, secret);
    expect(await verifyDelivery(body, signed, secret)).toEqual(JSON.parse(body));
    await expect(verifyDelivery(body, signed, secret, { now: NOW - 1_000_000 })).rejects.toMatchObject({
      code: "timestamp_outside_window",
    });
  });

  it("an event of a type to come, which isKnownEvent tells apart", async () => {
    const body = eventBody({ type: "link.disabled", mood: 7 });
    const event = await verify(standard(body), body);
    expect([event, isKnownEvent(event)]).toEqual([JSON.parse(body), false]);
    expect(isKnownEvent(await verify(both()))).toBe(true);
  });
});

describe("refuses", () => {
  const changed = BODY.replace("9007199254740991", "9007199254740990");
  const emptyKeyed = { ...own(BODY, ""), ...standard(BODY, "whsec_") };
  it.each<[name: string, code: DeliveryProblem, headers: Sent, body?: string]>([
    ["no headers", "missing_header", {}],
    ["no signature", "missing_header", without(both(), "x-service-signature", "webhook-signature")],
    ["no own timestamp", "missing_header", without(both(), "x-service-timestamp")],
    ["no event header beside the own signature", "missing_header", without(both(), "x-service-event")],
    ["no webhook-timestamp", "missing_header", without(both(), "webhook-timestamp")],
    ["no webhook-id", "missing_header", without(both(), "webhook-id")],
    ["another secret", "wrong_signature", both(BODY, OTHER)],
    ["no secret", "wrong_signature", emptyKeyed],
    [
      "the own signature keyed with the decoded secret",
      "wrong_signature",
      {
        ...own(),
        "x-service-signature": `sha256=${hmac(decoded(SECRET), `${NOW}.${BODY}`, "hex")}`,
      },
    ],
    [
      "webhook-signature keyed with the whole secret",
      "wrong_signature",
      {
        ...standard(),
        "webhook-signature": `v1,${hmac(SECRET, `${ID}.${NOW}.${BODY}`, "base64")}`,
      },
    ],
    ["another body", "wrong_signature", both(), changed],
    ["a body with white space added", "wrong_signature", both(), `${BODY}\n`],
    ["another own timestamp than was signed", "wrong_signature", { ...own(), "x-service-timestamp": String(NOW - 1) }],
    ["another webhook-timestamp than was signed", "wrong_signature", { ...standard(), "webhook-timestamp": String(NOW - 1) }],
    ["another webhook-id than was signed", "wrong_signature", { ...standard(), "webhook-id": "evt_other" }],
    ["another webhook-id beside the own signature", "header_mismatch", { ...own(), "webhook-id": "evt_other" }],
    ["another type in the header than in the body", "header_mismatch", { ...both(), "x-service-event": "campaign.settled" }],
    ["a timestamp 301 s old", "timestamp_outside_window", both(BODY, SECRET, NOW - 301)],
    ["a timestamp 301 s ahead", "timestamp_outside_window", both(BODY, SECRET, NOW + 301)],
    [
      "an old own signature beside a new one that is wrong",
      "timestamp_outside_window",
      { ...own(BODY, SECRET, NOW - 301), ...standard(BODY, OTHER) },
    ],
    [
      "an old webhook-signature beside a new own one that is wrong",
      "timestamp_outside_window",
      { ...own(BODY, OTHER), ...standard(BODY, SECRET, NOW - 301) },
    ],
    ["an own timestamp in hexadecimal", "malformed_header", own(BODY, SECRET, `0x${NOW.toString(16)}`)],
    ["an own timestamp with an exponent", "malformed_header", own(BODY, SECRET, "1795227310e0")],
    ["an own timestamp with a sign", "malformed_header", own(BODY, SECRET, `+${NOW}`)],
    ["an own timestamp in milliseconds", "malformed_header", own(BODY, SECRET, NOW * 1_000)],
    ["a webhook-timestamp with a fraction", "malformed_header", standard(BODY, SECRET, `${NOW}.0`)],
    ["an empty webhook-timestamp", "malformed_header", standard(BODY, SECRET, "")],
    ["a signature without sha256=", "malformed_header", { ...own(), "x-service-signature": hmac(SECRET, `${NOW}.${BODY}`, "hex") }],
    [
      "a signature in capitals",
      "malformed_header",
      { ...own(), "x-service-signature": `sha256=${hmac(SECRET, `${NOW}.${BODY}`, "hex").toUpperCase()}` },
    ],
    ["a cut signature", "malformed_header", { ...own(), "x-service-signature": String(own()["x-service-signature"]).slice(0, -1) }],
    ["a signature that goes on", "malformed_header", { ...own(), "x-service-signature": `${String(own()["x-service-signature"])}00` }],
    ["text before a webhook-signature", "malformed_header", { ...standard(), "webhook-signature": `a${v1(BODY, SECRET, NOW)}` }],
    ["text behind a webhook-signature", "malformed_header", { ...standard(), "webhook-signature": `${v1(BODY, SECRET, NOW)}a` }],
    ["a malformed own signature beside a right webhook-signature", "malformed_header", { ...both(), "x-service-signature": "sha256=" }],
    ["a malformed webhook-signature beside a right own one", "malformed_header", { ...both(), "webhook-signature": "v1," }],
    [
      "a cut webhook-signature",
      "malformed_header",
      { ...standard(), "webhook-signature": String(standard()["webhook-signature"]).slice(0, -1) },
    ],
    ["webhook-signature of a version to come alone", "malformed_header", { ...standard(), "webhook-signature": "v2,abc" }],
    [
      "more signatures than anyone sends",
      "malformed_header",
      {
        ...standard(),
        "webhook-signature": Array.from({ length: 9 }, () => v1(BODY, SECRET, NOW)).join(" "),
      },
    ],
    ["a repeated signature", "malformed_header", { ...own(), "x-service-signature": [String(own()["x-service-signature"]), "sha256="] }],
    ["a signature repeated in other case", "malformed_header", { ...own(), "X-Service-Signature": String(own()["x-service-signature"]) }],
    ["a repeated timestamp", "malformed_header", { ...own(), "x-service-timestamp": [String(NOW), String(NOW)] }],
    ["a signed body that is not JSON", "invalid_body", { ...own("{"), ...standard("{") }, "{"],
    ["a signed body that is null", "invalid_body", both("null"), "null"],
    ["a signed body without id", "invalid_body", both('{"type":"payout.paid","data":{}}'), '{"type":"payout.paid","data":{}}'],
    ["a signed body without type", "invalid_body", both(`{"id":"${ID}","data":{}}`), `{"id":"${ID}","data":{}}`],
    ["a signed body whose id is a number", "invalid_body", own(eventBody({ id: 1 })), eventBody({ id: 1 })],
    ["a signed body without data", "invalid_body", both(eventBody({ data: null })), eventBody({ data: null })],
    ["a signed body whose data is text", "invalid_body", both(eventBody({ data: "po_1" })), eventBody({ data: "po_1" })],
    ["a signed body with a byte order mark", "invalid_body", both(`\ufeff${BODY}`), `\ufeff${BODY}`],
  ])("%s: %s", async (_, code, headers, body = BODY) => {
    const refused = await verify(headers, body).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(DeliveryError);
    expect(refused).toMatchObject({ code });
    // Sent back to anyone who asks.
    expect((refused as Error).message).not.toContain("whsec_");
  });

  it("in constant time: WebCrypto compares, every digest with every secret, also after one that is right", async () => {
    const [compare, compute] = [jest.spyOn(crypto.subtle, "verify"), jest.spyOn(crypto.subtle, "sign")];
    await verify({ ...both(), "webhook-signature": `${v1(BODY, SECRET, NOW)} ${v1(BODY, NEXT, NOW)}` }, BODY, [SECRET, NEXT]);
    // The own signature and two others, with two secrets.
    expect([compare.mock.calls.length, compute.mock.calls.length]).toEqual([6, 0]);
    compare.mockRestore();
    compute.mockRestore();
  });

  it("a signed body that is not UTF-8", async () => {
    const body = Buffer.from(eventBody({ note: "ÿ" }), "latin1");
    const signature = createHmac("sha256", SECRET).update(`${NOW}.`).update(body).digest("hex");
    await expect(
      verifyDelivery(body, { ...own(), "x-service-signature": `sha256=${signature}` }, SECRET, { now: NOW }),
    ).rejects.toMatchObject({
      code: "invalid_body",
    });
  });

  it.each([undefined, "", " , ", [], "whsec_", "whsec_AAAA", SECRET.slice(6), `${SECRET}x`, SECRET.slice(0, -4), [SECRET, "mine"]])(
    "%j as secrets, as a mistake of the program that no log shows",
    async (secrets) => {
      const refused = verifyDelivery(BODY, both(), secrets, { now: NOW });
      await expect(refused).rejects.toThrow(TypeError);
      await expect(refused).rejects.not.toThrow(SECRET.slice(6, 20));
    },
  );

  it("a body that was parsed, as a mistake of the program", async () => {
    await expect(verifyDelivery(JSON.parse(BODY) as string, both(), SECRET, { now: NOW })).rejects.toThrow(
      "read it before anything parses it",
    );
  });
});
