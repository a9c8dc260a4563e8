import { edited, EVENT_TYPE_NAMES, sampleEvent, type SampleEvent } from "../deliveries/sample-event.ts";
import type { Rule, Trial } from "./rule.ts";
import { nowSeconds, otherSecret, type Signer } from "./signer.ts";

/** Half a minute more than the rule allows, for a receiver's clock that differs. */
const TOO_FAR_SECONDS = 330;
const DAY_SECONDS = 86_400;

const REFUSE_HEADERS = "Refuse missing or malformed headers, and a timestamp more than five minutes in the past or the future.";

const RULES: readonly Omit<Rule, "expects" | "section">[] = [
  {
    id: "wrong_signature",
    check: "wrong signature",
    sentence: "Anyone can post to your URL.",
    advice: "Compute the signature with the secret, compare it in constant time, and respond with 401 if it differs.",
    trials: async (signer) => [
      { variation: "signed with another secret", delivery: await signer.sign(signer.event(), {}, [otherSecret()]) },
      { variation: "signed with an empty secret", delivery: await signer.signWithoutSecret(signer.event()) },
    ],
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
    advice: "Compare the timestamp with the clock, and refuse more than 300 s. Who records a request could send it again.",
    trials: (signer) => signedApart(signer, -1, "ago"),
  },
  {
    id: "future",
    check: "future timestamp",
    sentence: REFUSE_HEADERS,
    advice: "Compare the absolute difference with 300 s: a request from the future is as wrong as a stale one.",
    trials: (signer) => signedApart(signer, 1, "ahead"),
  },
  {
    id: "altered",
    check: "altered after signing",
    sentence: "Compute HMAC-SHA256 over the value of `X-Service-Timestamp`, a period and the raw body.",
    advice: "Compute the signature over timestamp, period and body: all three.",
    trials: altered,
  },
  {
    id: "event_header",
    check: "another type in the header",
    sentence:
      "Compare `X-Service-Event` with `type` in the body, and refuse the request if they differ: the signature covers the body, not that header.",
    advice: "Take the type from the verified body, and refuse a header that differs.",
    trials: otherEventHeader,
  },
  {
    id: "unknown_type",
    check: "unknown type",
    sentence: "Accept only the types you have configured.",
    advice: "Respond with 422 to a type that you do not process: what you accept by mistake is not sent again.",
    async trials(signer) {
      const type = "record.unheard_of";
      const event = edited(signer.event(), (text) => text.replace(`"type":"${signer.options.type}"`, `"type":"${type}"`));
      return [{ variation: `of type ${type}`, delivery: await signer.sign({ ...event, type }) }];
    },
  },
];

/** What a receiver must refuse. */
export const REFUSING_RULES: readonly Rule[] = RULES.map((rule) => ({ ...rule, expects: "refused", section: "verifying" }));

async function missingHeaders(signer: Signer): Promise<Trial[]> {
  const { names } = signer;
  const signatures = [names.signature, names.standardSignature];
  const timestamps = [names.timestamp, names.standardTimestamp];
  const without = async (...removed: readonly string[]) => signer.without(await signer.sign(signer.event()), ...removed);
  return [
    { variation: "without signature", delivery: await without(...signatures) },
    { variation: "without timestamp", delivery: await without(...timestamps) },
    {
      variation: "without any of the service's headers",
      delivery: await without(...Object.values(names)),
    },
  ];
}

async function malformedHeaders(signer: Signer): Promise<Trial[]> {
  const signed = async (variation: string, own: (hex: string) => string, standard: (base64: string) => string): Promise<Trial> => {
    const delivery = await signer.sign(signer.event());
    const hex = (delivery.headers[signer.names.signature] ?? "").slice("sha256=".length);
    const base64 = (delivery.headers[signer.names.standardSignature] ?? "").slice("v1,".length);
    return { variation, delivery: signer.withSignatures(delivery, own(hex), standard(base64)) };
  };
  return [
    await signed(
      "with an empty signature",
      () => "",
      () => "",
    ),
    await signed(
      "with half a signature",
      (hex) => `sha256=${hex.slice(0, 32)}`,
      (base64) => `v1,${base64.slice(0, 20)}`,
    ),
    await signed(
      "with a signature of other characters",
      () => `sha256=${"zz".repeat(32)}`,
      () => `v1,${"?".repeat(44)}`,
    ),
    { variation: "with a signed timestamp that is no number", delivery: await signer.sign(signer.event(), { timestamp: Number.NaN }) },
  ];
}

/** The receiver may take the type from either place, and is configured for one of the two types. */
async function otherEventHeader(signer: Signer): Promise<Trial[]> {
  const { type, ...options } = signer.options;
  const other = EVENT_TYPE_NAMES.find((name) => name !== type) ?? type;
  const relabelled = async (event: SampleEvent, header: string): Promise<Trial> => {
    const { headers, body } = await signer.sign(event);
    return {
      variation: `with ${header} in the header of ${event.type}`,
      delivery: { headers: { ...headers, [signer.names.type]: header }, body },
    };
  };
  return [await relabelled(signer.event(), other), await relabelled(sampleEvent(other, options), type)];
}

async function signedApart(signer: Signer, direction: 1 | -1, word: string): Promise<Trial[]> {
  const at = async (seconds: number): Promise<Trial["delivery"]> =>
    signer.sign(signer.event(), { timestamp: nowSeconds() + direction * seconds });
  return [
    { variation: `signed ${TOO_FAR_SECONDS} s ${word}`, delivery: await at(TOO_FAR_SECONDS) },
    { variation: `signed a day ${word}`, delivery: await at(DAY_SECONDS) },
  ];
}

async function altered(signer: Signer): Promise<Trial[]> {
  const event = signer.event();
  const { headers } = await signer.sign(event);
  const changed = edited(event, (text) => text.replace(/_centavos":(\d+)/, (_, amount: string) => `_centavos":${Number(amount) + 1}`));
  const { timestamp, standardTimestamp } = signer.names;
  const later = await signer.sign(signer.event());
  const minuteAgo = String(nowSeconds() - 60);
  return [
    { variation: "with another amount in the body", delivery: { headers, body: changed.body } },
    {
      variation: "with another timestamp",
      delivery: { ...later, headers: { ...later.headers, [timestamp]: minuteAgo, [standardTimestamp]: minuteAgo } },
    },
  ];
}
