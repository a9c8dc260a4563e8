import type { Delivery } from "../deliveries/post-delivery.ts";
import type { Signer } from "./signer.ts";

/** One request of a rule's check. */
export interface Trial {
  /** What is special about it, to follow "accepted" or "refused": `signed with another secret`. */
  readonly variation: string;
  readonly delivery: Delivery;
}

/** A rule of docs/webhooks.md, and the requests that show whether a receiver keeps it. */
export interface Rule {
  /** Names the rule in JSON. Contract. */
  readonly id: string;
  /** What is sent, in a few words. */
  readonly check: string;
  /** What must become of every request. */
  readonly expects: "accepted" | "refused";
  /** The rule, word for word as docs/webhooks.md has it. */
  readonly sentence: string;
  /** The heading of docs/webhooks.md with the rule. */
  readonly section: string;
  /** What to do if the receiver breaks it. */
  readonly advice: string;
  /** Sends the requests at the same moment. */
  readonly atOnce?: boolean;
  /** What a person must look at if the receiver did as expected: HTTP cannot show it. */
  readonly look?: string;
  trials(signer: Signer): Promise<readonly Trial[]>;
}
