import type { Reply } from "../deliveries/post-delivery.ts";
import { adviceFor, isAccepted, replyText } from "../deliveries/reply-text.ts";
import type { Rule } from "./rule.ts";

/**
 * `look`: kept as far as HTTP shows, and a person must look. `not_checked`: nothing was sent, because no event is accepted.
 */
export type Result = "kept" | "broken" | "look" | "not_checked";

export interface SentTrial {
  readonly variation: string;
  readonly reply: Reply;
}

/** What a receiver did with the requests of a rule. */
export interface Verdict {
  readonly rule: Rule;
  readonly result: Result;
  /** What the receiver did, for people. */
  readonly observed: string;
  /** Undefined if there is nothing to do. */
  readonly advice: string | undefined;
  readonly sent: readonly SentTrial[];
}

export function verdictOf(rule: Rule, sent: readonly SentTrial[]): Verdict {
  const wrong = sent.filter(({ reply }) => !isAsExpected(rule, reply));
  if (wrong.length > 0) return broken(rule, sent, wrong);
  const crashed = sent.filter(({ reply }) => reply.kind === "response" && reply.status >= 500);
  if (rule.expects === "refused" && crashed.length > 0) {
    const advice = "Refuse with 401: 500 looks like code that threw, and is no check to rely on.";
    return { rule, result: "look", observed: list(crashed), advice, sent };
  }
  if (rule.look !== undefined) return { rule, result: "look", observed: `accepted twice: ${rule.look}`, advice: undefined, sent };
  return { rule, result: "kept", observed: summary(rule, sent), advice: undefined, sent };
}

/** From here on a response is near the limit, which a busy hour may cross. */
const SLOW_MS = 5_000;

/** Judges how long the receiver took, over all requests. */
export function timelyVerdict(rule: Rule, verdicts: readonly Verdict[]): Verdict {
  const sent = verdicts.flatMap((verdict) => verdict.sent);
  if (sent.every(({ reply }) => reply.kind === "failed")) return notChecked(rule);
  const late = sent.filter(({ reply }) => reply.kind === "slow");
  const slowest = Math.max(...sent.map(({ reply }) => reply.milliseconds));
  const observed = `the slowest took ${(slowest / 1_000).toFixed(2)} s`;
  const slow = `slow: ${late.length} of ${sent.length} without a whole response in time`;
  if (late.length > 0) return { rule, result: "broken", observed: slow, advice: rule.advice, sent: [] };
  if (slowest >= SLOW_MS) return { rule, result: "look", observed, advice: rule.advice, sent: [] };
  return { rule, result: "kept", observed, advice: undefined, sent: [] };
}

export const notChecked = (rule: Rule): Verdict => ({ rule, result: "not_checked", observed: "-", advice: undefined, sent: [] });

/** A connection that ends without a response refuses nothing: the receiver may have crashed. */
function isAsExpected({ expects }: Rule, reply: Reply): boolean {
  if (reply.kind !== "response") return false;
  return expects === "accepted" ? isAccepted(reply) : reply.status >= 300 && reply.status !== 410;
}

function broken(rule: Rule, sent: readonly SentTrial[], wrong: readonly SentTrial[]): Verdict {
  const [first] = wrong;
  const isOwnAdvice =
    rule.expects === "refused" ? wrong.some(({ reply }) => isAccepted(reply)) : rule.id !== "right_signature" && !isTransport(first);
  const advice = isOwnAdvice || first === undefined ? rule.advice : adviceFor(first.reply);
  return { rule, result: "broken", observed: list(wrong), advice, sent };
}

/** Nothing of the rule is to blame for a connection that fails, or for a response that is too slow. */
const isTransport = (trial: SentTrial | undefined): boolean => trial?.reply.kind !== "response";

/** `accepted (204, 5 ms) signed 330 s ago; accepted (204, 4 ms) signed a day ago` */
const list = (trials: readonly SentTrial[]): string => trials.map(({ variation, reply }) => `${replyText(reply)} ${variation}`).join("; ");

function summary({ expects }: Rule, sent: readonly SentTrial[]): string {
  const statuses = [...new Set(sent.flatMap(({ reply }) => (reply.kind === "response" ? [reply.status] : [])))].join(", ");
  return `${expects}${sent.length > 1 ? ` all ${sent.length}` : ""} (${statuses})`;
}
