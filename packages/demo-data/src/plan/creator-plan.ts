import { idAt } from "../ids.ts";
import { DAY, HISTORY } from "../timeline.ts";
import type { Random } from "../random.ts";
import type { Context } from "./context.ts";

/** A brand's creators, by number. */
export interface CreatorPlan {
  readonly ids: readonly string[];
  /** Picks a creator; a few do most of the work. */
  pick(random: Random): number;
}

export const CREATORS_MAX = 50_000;

export function planCreators(context: Context): CreatorPlan {
  const { submissions, links } = context.sizes;
  const count = Math.min(CREATORS_MAX, 5 + Math.ceil(submissions / 10 + links / 3));
  const stream = context.stream("creator id");
  const joined = context.now - HISTORY - 30 * DAY;
  const ids = Array.from({ length: count }, (_, index) => idAt("crt", joined, stream, index));
  return { ids, pick: (random) => Math.floor(count * random.unit() ** 1.8) };
}
