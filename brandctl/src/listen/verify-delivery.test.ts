import { createHmac } from "node:crypto";
import { verifyDelivery, type ReceivedDelivery } from "./verify-delivery.ts";

const SECRET = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const NOW = Date.UTC(2026, 10, 21, 8, 30);
const BODY = Buffer.from('{"id":"evt_1","data":{"name":"Ñora"}}');

function signed(at = NOW, secret = SECRET, body = BODY): ReceivedDelivery {
  const timestamp = String(at / 1_000);
  const own = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
  const key = Buffer.from(secret.slice(6), "base64");
  const standard = createHmac("sha256", key).update(`evt_1.${timestamp}.`).update(body).digest("base64");
  const headers = {
    "x-service-timestamp": timestamp,
    "x-service-signature": `sha256=${own}`,
    "webhook-id": "evt_1",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${standard}`,
  };
  return { headers, body };
}

const verify = (delivery: ReceivedDelivery, headerWord = "Service") => verifyDelivery(delivery, [SECRET], headerWord, NOW);

const ACCEPTED = { refusedFor: undefined, standardMatches: true, byOther: false };

it.each([-300, 0, 300])("accepts both kinds of signatures with a timestamp %i s from now", (seconds) => {
  expect(verify(signed(NOW + seconds * 1_000))).toEqual(ACCEPTED);
});

it.each([-301, 301])("refuses a timestamp %i s from now", (seconds) => {
  expect(verify(signed(NOW + seconds * 1_000))).toEqual({
    refusedFor: "its timestamp is more than five minutes away",
    standardMatches: false,
    byOther: false,
  });
});

it("refuses another secret, and a body with a changed byte", () => {
  const refused = { refusedFor: "its signature does not match", standardMatches: false, byOther: true };
  expect(verify(signed(NOW, OTHER))).toEqual(refused);
  expect(verify({ ...signed(), body: Buffer.from(BODY.toString().replace("Ñ", "N")) })).toEqual(refused);
});

it("accepts any of several secrets, and no other", () => {
  for (const secret of [SECRET, OTHER]) {
    expect(verifyDelivery(signed(NOW, secret), [SECRET, OTHER], "Service", NOW)).toEqual(ACCEPTED);
  }
  expect(verifyDelivery(signed(NOW, SECRET), [OTHER, OTHER], "Service", NOW)).toMatchObject({ standardMatches: false, byOther: true });
});

it("accepts one of two Standard Webhooks signatures, as during a rotation", () => {
  const { headers, body } = signed();
  const both = [signed(NOW, OTHER), signed()].map((one) => String(one.headers["webhook-signature"])).join(" ");
  expect(verify({ headers: { ...headers, "webhook-signature": both }, body }).standardMatches).toBe(true);
});

it("reads the headers under the word given", () => {
  expect(verify(signed(), "Acme").refusedFor).toBe("its timestamp or signature is missing");
});

it.each([
  ["x-service-timestamp", undefined, "missing"],
  ["x-service-signature", undefined, "missing"],
  ["x-service-timestamp", "now", "malformed"],
  ["x-service-timestamp", "-1", "malformed"],
  ["x-service-signature", "sha256=", "malformed"],
  ["x-service-signature", `sha256=${"A".repeat(64)}`, "malformed"],
  ["x-service-signature", "a".repeat(64), "malformed"],
  ["x-service-signature", `sha256=${"a".repeat(64)}`, "does not match"],
])("refuses %s: %s as %s", (name, value, reason) => {
  const { headers, body } = signed();
  expect(verify({ headers: { ...headers, [name]: value }, body }).refusedFor).toContain(reason);
});

it.each([undefined, "", "v1,", "v1a,xx", "v1,AAAA", "garbage"])("finds no Standard Webhooks signature in %j", (value) => {
  const { headers, body } = signed();
  expect(verify({ headers: { ...headers, "webhook-signature": value }, body })).toEqual({ ...ACCEPTED, standardMatches: false });
});
