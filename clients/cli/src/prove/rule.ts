import type { Delivery, Reply } from "../deliveries/post-delivery.ts";
import type { SampleEvent } from "../deliveries/sample-event.ts";
import type { Signer } from "./signer.ts";

/** One request of a rule's check. */
export interface Trial {
  /** What is special about it, to follow "accepted" or "refused": `signed with another secret`. */
  readonly variation: string;
  readonly delivery: Delivery;
  /** Takes the place of the rule's, for this request. */
  readonly look?: string;
}

/** A rule of docs/webhooks.md, and the requests that show whether a receiver keeps it. */
export interface Rule {
  /** Names the rule in JSON. Contract. */
  readonly id: string;
  /** What is sent, in a few words. */
  readonly check: string;
  /** What must become of every request. `either`: accepting is harmless, and a person may look. */
  readonly expects: "accepted" | "refused" | "either";
  /** The rule, word for word as docs/webhooks.md has it. */
  readonly sentence: string;
  /** The heading of docs/webhooks.md with the rule. */
  readonly section: string;
  /** What to do if the receiver breaks it. */
  readonly advice: string;
  /** The status to refuse with. Default: 401. */
  readonly refusal?: number;
  /** Sends the requests at the same moment. */
  readonly atOnce?: boolean;
  /** What a person must look at if the receiver did as expected: HTTP cannot show it. */
  readonly look?: string;
  /** Another rule's id: what a receiver that breaks it accepts shows nothing of this one, because of what it does. */
  readonly needs?: { readonly id: string; readonly because: string };
  /**
   * Makes the requests. Those that must be refused forge the event, so that it can still be sent, correctly signed, afterwards.
   *
   * @param event that no request has carried yet
   */
  trials?(signer: Signer, event: SampleEvent): Promise<readonly Trial[]>;
  /** Judges what has no requests of its own, over the rules before it. */
  judge?(rule: Rule, verdicts: readonly Verdict[]): Verdict;
}

/**
 * `look`: kept as far as HTTP shows, and a person must look. `not_checked`: nothing was sent, or what was refused may have been refused for
 * another reason.
 */
export type Result = "kept" | "broken" | "look" | "not_checked";

export interface SentTrial extends Omit<Trial, "delivery"> {
  readonly reply: Reply;
}

/** What was sent for a rule, and what became of it. */
export interface Sent {
  readonly trials: readonly SentTrial[];
  /**
   * What must be accepted after the trials, up to the first that is: twice the same, then a new event. The same is, after forgeries, the event
   * that they forge, correctly signed; else the request that was refused. None if the trials say enough.
   */
  readonly controls: readonly SentTrial[];
}

/** What a receiver did with the requests of a rule. */
export interface Verdict extends Sent {
  readonly rule: Rule;
  readonly result: Result;
  /** What the receiver did, for people. */
  readonly observed: string;
  /** Undefined if there is nothing to do. */
  readonly advice: string | undefined;
}
