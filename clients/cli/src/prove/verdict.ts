import type { Reply } from "../deliveries/post-delivery.ts";
import { adviceFor, isAccepted, isLimited, isUnrelated, replyText } from "../deliveries/reply-text.ts";
import type { Result, Rule, Sent, SentTrial, Verdict } from "./rule.ts";

const NOTHING: Sent = { trials: [], controls: [] };

export const sentIn = ({ trials, controls }: Sent): SentTrial[] => [...trials, ...controls];

export const notChecked = (rule: Rule, observed = "-"): Verdict => verdict(rule, NOTHING, "not_checked", observed);

/** @param before the verdicts on the rules before it */
export function verdictOf(rule: Rule, sent: Sent, before: readonly Verdict[]): Verdict {
  const own = rule.expects === "accepted" ? acceptingVerdict(rule, sent) : refusingVerdict(rule, sent);
  const { needs } = rule;
  const isHidden = before.some((each) => each.rule.id === needs?.id && each.result === "broken" && each.trials.some(isKept));
  return isHidden && own.result !== "kept" ? verdict(rule, sent, "not_checked", needs?.because ?? "-") : own;
}

function acceptingVerdict(rule: Rule, sent: Sent): Verdict {
  const { trials, controls } = sent;
  const refused = trials.filter(({ reply }) => !isAccepted(reply));
  const { look = "" } = rule;
  if (refused.length === 0 && look === "") return kept(rule, sent);
  if (refused.length === 0) return verdict(rule, sent, "look", `accepted${trials.length > 1 ? " twice" : ""}: ${look}`);
  const [again] = controls;
  const last = controls.at(-1);
  const observed = `${list(refused)}, accepted when sent again`;
  if (isKept(last) && rule.id === "right_signature") return verdict(rule, sent, "look", `${observed}: check that it was starting`);
  if (isKept(last) && controls.length < 3) {
    // One of two at once is no loss, whatever the status: the service sends again what is refused.
    const isHarmless = rule.atOnce === true && isKept(again) && refused.length < trials.length;
    return isHarmless ? verdict(rule, sent, "look", `${observed}: ${look}`) : { ...unclear(rule, sent, refused), observed };
  }
  if (last !== undefined && !isKept(last)) return unclear(rule, sent, [...refused.filter(isBusy), last]);
  const others = refused.filter(({ reply }) => (last === undefined ? reply.kind === "response" && isUnrelated(reply) : isLimited(reply)));
  return others.length > 0 ? unclear(rule, sent, others) : broken(rule, sent, refused);
}

function refusingVerdict(rule: Rule, sent: Sent): Verdict {
  const { trials, controls } = sent;
  const accepted = trials.filter(isKept);
  const wrong = rule.expects === "either" ? [] : accepted;
  const gone = trials.filter(({ reply }) => !isAccepted(reply) && !isUnrelated(reply) && !isRefusal(reply));
  if (wrong.length + gone.length > 0) return broken(rule, sent, [...wrong, ...gone]);
  const others = [...trials.filter(({ reply }) => isUnrelated(reply)), ...controls.slice(0, 1).filter((control) => !isKept(control))];
  if (others.length > 0) return unclear(rule, sent, others);
  if (accepted.length > 0) return verdict(rule, sent, "look", looks(rule, accepted));
  const crashed = trials.filter(({ reply }) => reply.kind === "response" && reply.status >= 500);
  if (crashed.length === 0) return kept(rule, sent);
  const advice = `Refuse with ${rule.refusal ?? 401}: 500 looks like code that threw, and is no check to rely on.`;
  return verdict(rule, sent, "look", list(crashed), advice);
}

/** From here on a response is near the limit, which a busy hour may cross. */
const SLOW_MS = 5_000;

/** Judges how long the receiver took, over all requests. */
export function timelyVerdict(rule: Rule, verdicts: readonly Verdict[]): Verdict {
  const sent = verdicts.flatMap(sentIn);
  if (sent.every(({ reply }) => reply.kind === "failed")) return notChecked(rule);
  const late = sent.filter(({ reply }) => reply.kind === "slow");
  const slowest = Math.max(...sent.map(({ reply }) => reply.milliseconds));
  const observed = `the slowest took ${(slowest / 1_000).toFixed(2)} s`;
  const slow = `slow: ${late.length} of ${sent.length} without a whole response in time`;
  if (late.length > 0) return verdict(rule, NOTHING, "broken", slow, rule.advice);
  if (slowest >= SLOW_MS) return verdict(rule, NOTHING, "look", observed, rule.advice);
  return verdict(rule, NOTHING, "kept", observed);
}

/** Judges whether the receiver accepts an event after forgeries of it, over the rules that forge one. */
export function afterRefusalsVerdict(rule: Rule, verdicts: readonly Verdict[]): Verdict {
  const controls = verdicts.filter((each) => each.rule.expects !== "accepted").map((each) => each.controls);
  const blocked = controls.filter(isBlocked).flatMap(([same]) => same ?? []);
  if (blocked.length > 0) return verdict(rule, NOTHING, "broken", firstOf(blocked), rule.advice);
  const trials = controls.flatMap(([same]) => (same !== undefined && isKept(same) ? [same] : []));
  return trials.length === 0 ? notChecked(rule) : { ...kept(rule, { trials, controls: [] }), trials: [] };
}

/** Takes back what rests on a status with which the receiver, or something before it, also refused what it accepted when sent again. */
export function withDoubts(verdicts: readonly Verdict[]): Verdict[] {
  const unstable = verdicts.filter(({ result, controls }) => result === "not_checked" && controls.some(isKept));
  const statuses = new Set(unstable.flatMap((each) => statusesOf(each.rule.expects === "accepted" ? sentIn(each) : each.controls)));
  return verdicts.map((each) => {
    const doubtful = statusesOf(each.trials).filter((status) => status >= 300 && statuses.has(status));
    if (each.result !== "kept" || doubtful.length === 0) return each;
    return verdict(each.rule, each, "not_checked", `refused (${doubtful.join(", ")}), as some of what it accepts: perhaps by a limiter`);
  });
}

const statusesOf = (trials: readonly SentTrial[]): number[] => [
  ...new Set(trials.flatMap(({ reply }) => (reply.kind === "response" ? [reply.status] : []))),
];

const verdict = (rule: Rule, { trials, controls }: Sent, result: Result, observed: string, advice?: string): Verdict => ({
  rule,
  result,
  observed,
  advice,
  trials,
  controls,
});

const isKept = (trial: SentTrial | undefined): boolean => trial !== undefined && isAccepted(trial.reply);

/** Whether a new event is accepted, and the same is not. */
const isBlocked = ([, same, fresh]: readonly SentTrial[]): boolean => same !== undefined && isKept(fresh) && !isUnrelated(same.reply);

const isBusy = ({ reply }: SentTrial): boolean => reply.kind === "response" && reply.status === 429;

/** A connection that ends without a response refuses nothing: the receiver may have crashed. */
const isRefusal = (reply: Reply): boolean => reply.kind === "response" && reply.status >= 300 && reply.status !== 410;

function kept(rule: Rule, sent: Sent): Verdict {
  const { trials } = sent;
  const done = trials.some(isKept) ? "accepted" : "refused";
  return verdict(rule, sent, "kept", `${done}${trials.length > 1 ? ` all ${trials.length}` : ""} (${statusesOf(trials).join(", ")})`);
}

function broken(rule: Rule, sent: Sent, wrong: readonly SentTrial[]): Verdict {
  const [first] = wrong;
  const isOwnAdvice = rule.expects === "refused" ? wrong.some(isKept) : rule.id !== "right_signature" && first?.reply.kind === "response";
  return verdict(rule, sent, "broken", list(wrong), isOwnAdvice || first === undefined ? rule.advice : adviceFor(first.reply));
}

/** What was refused for a reason that may not be the rule's: nothing is known of it. */
function unclear(rule: Rule, sent: Sent, others: readonly SentTrial[]): Verdict {
  const [first] = others;
  const ownAdvice = isBlocked(sent.controls)
    ? "It refuses an event after a forgery of it: correct that first."
    : "It refuses what it accepted before. Exempt this machine from limiters and firewalls, and prove it again.";
  const advice = first !== undefined && isUnrelated(first.reply) ? adviceFor(first.reply) : ownAdvice;
  return verdict(rule, sent, "not_checked", firstOf(others), advice);
}

/** `accepted (204, 5 ms) signed 330 s ago; accepted (204, 4 ms) signed a day ago` */
const list = (trials: readonly SentTrial[]): string => trials.map(({ variation, reply }) => `${replyText(reply)} ${variation}`).join("; ");

/** `accepted (204, 5 ms) without X-Service-Event: harmless`, for each thing to look at. */
function looks(rule: Rule, accepted: readonly SentTrial[]): string {
  const lookOf = ({ look = rule.look ?? "" }: SentTrial): string => look;
  const texts = new Set(accepted.map(lookOf));
  return [...texts].map((text) => `${firstOf(accepted.filter((trial) => lookOf(trial) === text))}: ${text}`).join("; ");
}

const firstOf = (trials: readonly SentTrial[]): string =>
  `${list(trials.slice(0, 1))}${trials.length > 1 ? `, and ${trials.length - 1} more` : ""}`;
