import { edited, largestEvent, type SampleEvent } from "../deliveries/sample-event.ts";
import type { Rule, Trial } from "./rule.ts";
import { nowSeconds, otherSecret, type Signer } from "./signer.ts";
import { timelyVerdict } from "./verdict.ts";

const RESPOND_2XX = "Any 2xx within 15 seconds is success.";

/** Without it no other rule can be checked: a receiver that refuses everything would keep most. */
export const RIGHT_SIGNATURE: Rule = {
  id: "right_signature",
  check: "right signature",
  expects: "accepted",
  sentence: RESPOND_2XX,
  section: "responding",
  advice: "Respond with 2xx.",
  trials: async (signer, event) => [{ variation: "signed as the service signs", delivery: await signer.sign(event) }],
};

export const IN_TIME: Rule = {
  id: "in_time",
  check: "responses in time",
  expects: "accepted",
  sentence: RESPOND_2XX,
  section: "responding",
  advice: "Store the event, respond, and process it afterwards.",
  judge: timelyVerdict,
};

/** What a receiver must accept. */
export const ACCEPTING_RULES: readonly Rule[] = [
  RIGHT_SIGNATURE,
  {
    id: "raw_body",
    check: "a body that code would write otherwise",
    expects: "accepted",
    sentence: "JSON that is parsed and serialised again has other bytes.",
    section: "verifying",
    advice: "Compute the signature over the bytes as they arrive, before a framework parses them.",
    async trials(signer, sample) {
      const event = edited(sample, (text) => text.replace('"data":{', '"data" : { "note": "Ni\\u00f1o \u00f1 \\/ 😀", '));
      return [{ variation: "with white space, escapes and non-ASCII characters", delivery: await signer.sign(event) }];
    },
  },
  {
    id: "unknown_fields",
    check: "unknown fields",
    expects: "accepted",
    sentence: "Fields may be added: ignore unknown ones.",
    section: "what-arrives",
    advice: "Validate the fields that you read, and allow others in the event and in data.",
    async trials(signer, sample) {
      const event = edited(sample, (text) => text.replace('"data":{', '"added_later":1,"data":{"added_later":{"a":[1]},'));
      return [{ variation: "with fields that a later version adds", delivery: await signer.sign(event) }];
    },
  },
  {
    id: "large_body",
    check: "20 KiB body",
    expects: "accepted",
    sentence: "about 600 bytes, at most 20 KiB; let your server take 64 KiB",
    section: "limits",
    advice: "Raise the body limit of the server, the framework and the proxy before them to 64 KiB.",
    trials: async (signer, event) => [{ variation: "20,480 bytes", delivery: await signer.sign(largestEvent(event)) }],
  },
  {
    id: "rotation",
    check: "secrets during a rotation",
    expects: "accepted",
    sentence:
      "From now on `webhook-signature` has two signatures, by the active and by the next secret; `X-Service-Signature` stays with the active one.",
    section: "rotating-the-secret",
    advice: "Give the receiver both secrets, and accept a request if either secret verifies it.",
    trials: rotation,
  },
  {
    id: "twice",
    check: "the same event twice",
    expects: "accepted",
    sentence: "No row returned: processed before; respond with 2xx all the same.",
    section: "each-event-once",
    advice: "Respond with 2xx to an event whose id you have processed: what is refused is sent again.",
    look: "check that it acted once",
    // Signed at another second: a receiver may refuse what is the same to the last byte, which the next rule shows.
    trials: async (signer, event) => [
      { variation: "first attempt", delivery: await signer.sign(event, { timestamp: nowSeconds() - 5 }) },
      { variation: "second attempt", delivery: await signer.sign(event, { attempt: 2 }) },
    ],
  },
  {
    id: "at_once",
    check: "the same event twice at once",
    expects: "accepted",
    sentence: "Remember processed events by the `id` in the verified body.",
    section: "each-event-once",
    advice: "Insert the id and what the event does in one transaction: the second waits for the first, and responds with 2xx.",
    atOnce: true,
    look: "check that it acted once",
    async trials(signer, event) {
      const delivery = await signer.sign(event);
      return [
        { variation: "one of two at once", delivery },
        { variation: "the other of two at once", delivery },
      ];
    },
  },
  {
    id: "later_attempt",
    check: "an event whose first attempt was lost",
    expects: "accepted",
    sentence: "`X-Service-Attempt` counts the attempts of a delivery, restarts with a replay, and identifies nothing.",
    section: "each-event-once",
    advice: "Remember events by their id alone: this one comes for the first time, as attempt 2.",
    look: "check that it acted, although it came as attempt 2",
    trials: async (signer, event) => [{ variation: "as attempt 2", delivery: await signer.sign(event, { attempt: 2 }) }],
  },
];

/** What the service sends until the next secret is active, and from then on. The second only if the receiver has that secret. */
async function rotation(signer: Signer, event: SampleEvent): Promise<Trial[]> {
  const { secret, nextSecret } = signer.options;
  const both = {
    variation: "signed with two secrets",
    delivery: await signer.sign(event, {}, [secret, nextSecret ?? otherSecret()]),
  };
  if (nextSecret === undefined) return [both];
  return [both, { variation: "signed with the next secret alone", delivery: await signer.sign(signer.event(), {}, [nextSecret]) }];
}
