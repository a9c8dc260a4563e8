import { newId } from "@brand-records/ids";
import type { Delivery } from "../deliveries/post-delivery.ts";
import { edited, EVENT_TYPE_NAMES, type SampleEvent } from "../deliveries/sample-event.ts";
import type { Rule, Trial } from "./rule.ts";
import { nowSeconds, otherSecret, type Signer } from "./signer.ts";
import { afterRefusalsVerdict } from "./verdict.ts";

/** Half a minute more than the rule allows, for a receiver's clock that differs. */
const TOO_FAR_SECONDS = 330;
/** Outside of every tolerance, and at another time of the day. */
const HOURS_SECONDS = 7_200;
const DAY_SECONDS = 86_400;

const REFUSE_HEADERS = "Refuse missing or malformed headers, and a timestamp more than five minutes in the past or the future.";

/** Each request is one that a receiver with a mistake of its own accepts, and no other request shows: test/e2e/prove-receivers.test.ts. */
const RULES: readonly (Omit<Rule, "expects" | "section"> & Partial<Rule>)[] = [
  {
    id: "wrong_signature",
    check: "wrong signature",
    sentence: "Anyone can post to your URL.",
    advice: "Compute the signature with the secret, compare all of it, in constant time, and respond with 401 if it differs.",
    trials: wrongSignatures,
  },
  {
    id: "missing_headers",
    check: "missing headers",
    sentence: REFUSE_HEADERS,
    advice: "Respond with 401 if the signature or the timestamp is missing.",
    trials: missingHeaders,
  },
  {
    id: "malformed_headers",
    check: "malformed headers",
    sentence: REFUSE_HEADERS,
    advice: "Check the form of both headers before you compare: a timestamp of digits alone, a signature of full length.",
    trials: malformedHeaders,
  },
  {
    id: "stale",
    check: "stale timestamp",
    sentence: REFUSE_HEADERS,
    advice:
      "Compare the timestamp that the signature covers with the clock, and refuse more than 300 s. Who records a request could send it again.",
    trials: staleTimestamps,
  },
  {
    id: "future",
    check: "future timestamp",
    sentence: REFUSE_HEADERS,
    advice: "Compare the absolute difference with 300 s: a request from the future is as wrong as a stale one.",
    trials: async (signer, event) => {
      const timestamp = nowSeconds() + TOO_FAR_SECONDS;
      return trialsOf([`signed ${TOO_FAR_SECONDS} s ahead`, await signer.sign(event, { timestamp })]);
    },
  },
  {
    id: "altered",
    check: "altered after signing",
    sentence: "Compute HMAC-SHA256 over the value of `X-Service-Timestamp`, a period and the raw body.",
    advice:
      "Compute the signature over timestamp, period and body: all three, and the bytes as they arrive, none of them removed or converted.",
    trials: altered,
  },
  {
    id: "unknown_type",
    check: "unknown type",
    sentence: "Accept only the types you have configured.",
    advice: "Respond with 422 to a type that you do not process: what you accept by mistake is not sent again.",
    refusal: 422,
    async trials(signer, event) {
      const forged = ofUnknownType(event);
      return trialsOf([`of type ${forged.type}`, await signer.sign(forged)]);
    },
  },
  {
    id: "event_header",
    check: "another type in the header",
    sentence:
      "Take the type from the verified body. The signature does not cover `X-Service-Event`: ignore it, or refuse a request in which it differs.",
    advice: "Take the type from the verified body: anyone can change that header.",
    refusal: 422,
    needs: { id: "unknown_type", because: "accepts types that it is not configured for" },
    async trials(signer, event) {
      const { type, body } = ofUnknownType(event);
      return trialsOf([`with ${event.type} in the header of ${type}`, await signer.sign({ ...event, body })]);
    },
  },
  {
    id: "leniency",
    check: "differences that may be accepted",
    expects: "either",
    sentence: REFUSE_HEADERS,
    advice: "Refuse them with 401.",
    look: "harmless",
    needs: { id: "wrong_signature", because: "accepts wrong signatures" },
    trials: harmless,
  },
  {
    id: "webhook_id",
    check: "another webhook-id",
    expects: "either",
    sentence: "Remember processed events by the `id` in the verified body.",
    section: "each-event-once",
    advice: "Take the id from the body, or refuse with 401.",
    look: "check that it remembers the id in the body",
    needs: { id: "wrong_signature", because: "accepts wrong signatures" },
    trials: async (signer, event) =>
      trialsOf(["with another webhook-id", withHeader(await signer.sign(event), signer.names.standardId, newId("evt"))]),
  },
];

/** What a receiver must refuse. */
export const REFUSING_RULES: readonly Rule[] = RULES.map((rule) => ({ expects: "refused", section: "verifying", ...rule }));

export const AFTER_REFUSALS: Rule = {
  id: "after_refusals",
  check: "an event after forgeries of it",
  expects: "accepted",
  sentence: "Verify a request before you look its id up or remember it: a forgery must not take the event's place.",
  section: "each-event-once",
  advice: "Remember an event's id with what the event does, after it is verified.",
  judge: afterRefusalsVerdict,
};

const trialsOf = (...pairs: readonly (readonly [variation: string, delivery: Delivery])[]): Trial[] =>
  pairs.map(([variation, delivery]) => ({ variation, delivery }));

/** Returns the event with a type that there is not, of the same family: receivers compare with a prefix. */
function ofUnknownType(event: SampleEvent): SampleEvent {
  const type = event.type.replace(/\..*/, ".unheard_of");
  return { ...edited(event, (text) => text.replace(`"type":"${event.type}"`, `"type":"${type}"`)), type };
}

const withHeader = ({ headers, body }: Delivery, name: string, to: string): Delivery => ({ headers: { ...headers, [name]: to }, body });

/** The types that the receiver may be configured for, too. */
const otherTypes = (type: string) => EVENT_TYPE_NAMES.filter((name) => name !== type);

/** Returns the delivery with the prefixes that a later version of the signatures may have. */
const withOtherPrefix = (signer: Signer, delivery: Delivery): Delivery =>
  signer.withDigests(delivery, (digest) => digest, ["sha512=", "v2,"]);

/** The headers of one of the two signatures, without those of the other. */
function alone(signer: Signer, delivery: Delivery): { own: Delivery; standard: Delivery } {
  const { timestamp, signature, standardId, standardTimestamp, standardSignature } = signer.names;
  return {
    own: signer.without(delivery, standardId, standardTimestamp, standardSignature),
    standard: signer.without(delivery, timestamp, signature),
  };
}

async function wrongSignatures(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const { signature, standardSignature } = signer.names;
  const right = await signer.sign(event);
  const forge = (forged: SampleEvent, attempt = 1): Promise<Delivery> => signer.sign(forged, { attempt }, [otherSecret()]);
  const wrong = await forge(event);
  const { own, standard } = alone(signer, wrong);
  const fields = Object.entries({ id: event.id, type: event.type, test: "true", "data[id]": "po_test" });
  const parts = fields.map(([name, value]) => `--parts\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("");
  const as = async (type: string, body: string): Promise<Delivery> =>
    withHeader(await forge({ ...event, body: Buffer.from(body) }), "Content-Type", type);
  const ofOtherTypes = otherTypes(event.type).map(async (type) => [`of type ${type}`, await forge(signer.event(type))] as const);
  const forgeries = [
    [`with ${signature} alone`, own],
    [`with ${standardSignature} alone`, standard],
    ["with another prefix", withOtherPrefix(signer, wrong)],
    ["as attempt 2", await forge(event, 2)],
    ...(await Promise.all(ofOtherTypes)),
    // Frameworks parse these with code of their own, before which code that verifies JSON does not run.
    ["as a form", await as("application/x-www-form-urlencoded", new URLSearchParams(fields).toString())],
    ["as a form of parts", await as("multipart/form-data; boundary=parts", `${parts}--parts--\r\n`)],
    ["as plain text", await as("text/plain", event.body.toString())],
  ] as const;
  return trialsOf(
    ["with another last digit", signer.withDigests(right, (digest) => Buffer.of(...digest.subarray(0, -1), (digest.at(-1) ?? 0) ^ 1))],
    [
      // In another order, the bytes have the same sum and the same parity.
      "with only the end of the signature right",
      signer.withDigests(right, (digest) => Buffer.concat([digest.subarray(1, 5), digest.subarray(0, 1), digest.subarray(5)])),
    ],
    ["signed with an empty secret", await signer.signWithoutSecret(event)],
    ...forgeries.map(([variation, delivery]) => [`signed with another secret, ${variation}`, delivery] as const),
  );
}

async function missingHeaders(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const { names } = signer;
  const right = await signer.sign(event);
  return trialsOf(
    ["without signature", signer.without(right, names.signature, names.standardSignature)],
    ["without timestamp", signer.without(right, names.timestamp, names.standardTimestamp)],
    [`without ${names.standardId}, with ${names.standardSignature} alone`, signer.without(alone(signer, right).standard, names.standardId)],
    ["without any of the service's headers", signer.without(right, ...Object.values(names))],
  );
}

async function malformedHeaders(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const right = await signer.sign(event);
  return trialsOf(
    ["with an empty signature", signer.withSignatures(right, "", "")],
    // In base64 too, 15 bytes are a prefix, and the others the end.
    ["with half a signature", signer.withDigests(right, (digest) => digest.subarray(0, 15))],
    ["with the end of a signature", signer.withDigests(right, (digest) => digest.subarray(15))],
    ["with a signature of other characters", signer.withSignatures(right, `sha256=${"zz".repeat(32)}`, `v1,${"?".repeat(44)}`)],
    ["with a signed timestamp that is no number", await signer.sign(event, { timestamp: Number.NaN })],
  );
}

async function staleTimestamps(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const { timestamp, standardTimestamp, signature, standardSignature } = signer.names;
  const at = (seconds: number, attempt = 1): Promise<Delivery> => signer.sign(event, { timestamp: nowSeconds() - seconds, attempt });
  const old = await at(HOURS_SECONDS);
  const { own, standard } = alone(signer, old);
  const withNew = (name: string): Delivery => withHeader(old, name, String(nowSeconds()));
  return trialsOf(
    [`signed ${TOO_FAR_SECONDS} s ago`, await at(TOO_FAR_SECONDS)],
    // A retry has a signature and a timestamp of its own: a late one needs no exception.
    ["signed a day ago, as attempt 2", await at(DAY_SECONDS, 2)],
    [`signed two hours ago, with ${signature} alone`, own],
    [`signed two hours ago, with ${standardSignature} alone`, standard],
    [`signed two hours ago, with a new ${timestamp}`, withNew(timestamp)],
    [`signed two hours ago, with a new ${standardTimestamp}`, withNew(standardTimestamp)],
  );
}

async function altered(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const { timestamp, standardTimestamp } = signer.names;
  const { headers, body } = await signer.sign(event);
  const minuteAgo = String(nowSeconds() - 60);
  const onLines = (lineEnd: string): SampleEvent => edited(event, (text) => text.replace('"data":', `${lineEnd}"data":`));
  return trialsOf(
    ["with another timestamp", { headers: { ...headers, [timestamp]: minuteAgo, [standardTimestamp]: minuteAgo }, body }],
    ["with a blank between fields", { headers, body: edited(event, (text) => text.replace('"data":', ' "data":')).body }],
    ["with other line ends", { headers: (await signer.sign(onLines("\n"))).headers, body: onLines("\r\n").body }],
    ["with a line end after the body", { headers, body: Buffer.concat([body, Buffer.from("\n")]) }],
  );
}

async function harmless(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const { type: header } = signer.names;
  const withTypes = otherTypes(event.type).map(async (other) => ({
    variation: `with ${other} in the header`,
    delivery: withHeader(await signer.sign(signer.event()), header, other),
    look: "check that it does what the type in the body asks for",
  }));
  return [
    { variation: "with another prefix", delivery: withOtherPrefix(signer, await signer.sign(event)) },
    { variation: `without ${header}`, delivery: signer.without(await signer.sign(signer.event()), header) },
    ...(await Promise.all(withTypes)),
  ];
}
