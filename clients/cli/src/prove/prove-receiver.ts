import { postDelivery, type PostOptions } from "../deliveries/post-delivery.ts";
import { ACCEPTING_RULES, IN_TIME, RIGHT_SIGNATURE } from "./accepting-rules.ts";
import { REFUSING_RULES } from "./refusing-rules.ts";
import type { Rule, Trial } from "./rule.ts";
import type { Signer } from "./signer.ts";
import { notChecked, timelyVerdict, verdictOf, type SentTrial, type Verdict } from "./verdict.ts";

/** Every rule that is checked, in the order of the report. */
export const RULES: readonly Rule[] = [...ACCEPTING_RULES, ...REFUSING_RULES, IN_TIME];

export interface ProveOptions extends PostOptions {
  /** Called before the requests of a rule. */
  readonly onRule?: (rule: Rule) => void;
}

/**
 * Sends a receiver what it must accept and what it must refuse, one request after another. If it does not accept an event at all, the other
 * rules are not checked: refusing everything keeps most.
 *
 * @throws the signal's reason
 */
export async function proveReceiver(to: URL, signer: Signer, options: ProveOptions): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const rule of RULES) {
    if (rule === IN_TIME) {
      verdicts.push(timelyVerdict(rule, verdicts));
      continue;
    }
    const [first] = verdicts;
    if (first?.rule === RIGHT_SIGNATURE && first.result === "broken") {
      verdicts.push(notChecked(rule));
      continue;
    }
    options.onRule?.(rule);
    verdicts.push(verdictOf(rule, await sendAll(to, rule, await rule.trials(signer), options)));
  }
  return verdicts;
}

async function sendAll(to: URL, { atOnce = false }: Rule, trials: readonly Trial[], options: PostOptions): Promise<SentTrial[]> {
  const send = async ({ variation, delivery }: Trial): Promise<SentTrial> => ({
    variation,
    reply: await postDelivery(to, delivery, options),
  });
  if (atOnce) return Promise.all(trials.map(send));
  const sent: SentTrial[] = [];
  for (const trial of trials) sent.push(await send(trial));
  return sent;
}
