import { setTimeout as wait } from "node:timers/promises";
import { postDelivery, type PostOptions } from "../deliveries/post-delivery.ts";
import { isAccepted, isNotReady } from "../deliveries/reply-text.ts";
import { ACCEPTING_RULES, IN_TIME, RIGHT_SIGNATURE } from "./accepting-rules.ts";
import { AFTER_REFUSALS, REFUSING_RULES } from "./refusing-rules.ts";
import type { Rule, Sent, SentTrial, Trial, Verdict } from "./rule.ts";
import type { Signer } from "./signer.ts";
import { notChecked, sentIn, verdictOf, withDoubts } from "./verdict.ts";

/** Every rule that is checked, in the order of the report. */
export const RULES: readonly Rule[] = [...ACCEPTING_RULES, ...REFUSING_RULES, AFTER_REFUSALS, IN_TIME];

/** Before each repetition of the very first request, to a receiver that may be starting. */
const STARTING_MS = 1_000;

export interface ProveOptions extends PostOptions {
  /** Called before the requests of a rule. */
  readonly onRule?: (rule: Rule) => void;
}

/**
 * Sends a receiver what it must accept and what it must refuse, one request after another. As soon as it accepts no event that is
 * correctly signed, nothing more is sent, and the other rules are not checked: refusing everything keeps most.
 *
 * @throws the signal's reason
 */
export async function proveReceiver(to: URL, signer: Signer, options: ProveOptions): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let accepts = true;
  for (const rule of RULES) {
    if (rule.judge !== undefined) {
      verdicts.push(rule.judge(rule, verdicts));
      continue;
    }
    if (!accepts) {
      verdicts.push(notChecked(rule));
      continue;
    }
    options.onRule?.(rule);
    const sent = await check(to, rule, signer, options);
    const controls = rule === RIGHT_SIGNATURE ? sentIn(sent) : sent.controls;
    accepts = controls.length === 0 || controls.some(({ reply }) => isAccepted(reply));
    verdicts.push(verdictOf(rule, sent, verdicts));
  }
  return withDoubts(verdicts);
}

/** Sends the requests of a rule. If a refusal may have another reason, it then sends what the receiver must accept. */
async function check(to: URL, rule: Rule, signer: Signer, options: PostOptions): Promise<Sent> {
  const send = async ({ delivery, ...trial }: Trial): Promise<SentTrial> => ({
    ...trial,
    reply: await postDelivery(to, delivery, options),
  });
  const event = signer.event();
  const made = (await rule.trials?.(signer, event)) ?? [];
  const trials: SentTrial[] = [];
  if (rule.atOnce === true) trials.push(...(await Promise.all(made.map(send))));
  else for (const trial of made) trials.push(await send(trial));
  const refused = trials.findIndex(({ reply }) => !isAccepted(reply));
  const isEnough = rule.expects === "accepted" ? refused === -1 : trials.some(({ reply }) => isAccepted(reply));
  const isStarting = rule === RIGHT_SIGNATURE && trials.some(({ reply }) => isNotReady(reply));
  if (isEnough || (rule === RIGHT_SIGNATURE && !isStarting)) return { trials, controls: [] };
  const again = rule.expects === "accepted" ? made[refused] : undefined;
  const same = again === undefined ? "the same event, correctly signed" : "the same request again";
  const controls: SentTrial[] = [];
  for (const variation of [same, same, "a new event, correctly signed"]) {
    if (controls.some(({ reply }) => isAccepted(reply))) break;
    if (isStarting) await wait(STARTING_MS, undefined, options).catch(() => options.signal.throwIfAborted());
    const isSame = variation === same;
    const delivery = (isSame ? again?.delivery : undefined) ?? (await signer.sign(isSame ? event : signer.event()));
    controls.push(await send({ variation, delivery }));
  }
  return { trials, controls };
}
