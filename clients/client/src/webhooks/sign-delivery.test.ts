import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { signDelivery } from "./sign-delivery.ts";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEXT = `whsec_${"A".repeat(43)}=`;

/** The request that docs/webhooks.md shows. */
function documented(): { headers: Record<string, string>; body: string } {
  const [, block = ""] = /^```http\n(.*?)^```$/ms.exec(readFileSync("docs/webhooks.md", "utf8")) ?? [];
  const [head = "", body = ""] = block.trimEnd().split("\n\n");
  const [, host = "", ...lines] = head.split("\n");
  expect(host).toMatch(/^Host: /);
  return { headers: Object.fromEntries(lines.map((line) => line.split(": ", 2) as [string, string])), body };
}

it("makes the headers of docs/webhooks.md", async () => {
  const { headers, body } = documented();
  expect(await signDelivery(body, SECRET, { timestamp: 1_795_227_310 })).toEqual(headers);
  expect(await signDelivery(Buffer.from(body), SECRET, { timestamp: 1_795_227_310 })).toEqual(headers);
});

it("signs with each secret, so that a library of Standard Webhooks verifies it with either", async () => {
  const { body } = documented();
  const headers = await signDelivery(body, [NEXT, SECRET], { attempt: 3, headerWord: "Acme" });
  expect(headers).toMatchObject({ "X-Acme-Event": "payout.paid", "X-Acme-Attempt": "3" });
  for (const secret of [SECRET, NEXT]) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
});

it("takes id and type as options for a body that has none, and refuses it without", async () => {
  const headers = await signDelivery("{", SECRET, { id: "evt_1", type: "payout.paid" });
  expect(headers).toMatchObject({ "webhook-id": "evt_1", "X-Service-Event": "payout.paid" });
  for (const body of ["{", "null", "{}", '{"id":"evt_1"}']) await expect(signDelivery(body, SECRET)).rejects.toThrow("has no id and type");
});
