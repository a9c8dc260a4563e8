import { runLighthouse } from "../lighthouse.ts";
import { startOnSharedServices, type SharedStack } from "../stack.ts";

/** One promise: a guide scores 95 or more in each category of Lighthouse. */

const SCORE_MIN = 0.95;
const RUN_MS_MAX = 3 * 60_000;

let stack: SharedStack;
beforeAll(async () => {
  stack = await startOnSharedServices();
}, RUN_MS_MAX);
afterAll(() => stack.stop());

it.each(["api", "errors", "syncing", "webhooks", "assistants", "command-line", "clients", "python"])(
  "%s",
  async (name) => {
    const { categories } = await runLighthouse(`${stack.url}/docs/${name}`);
    const scores = Object.entries(categories).map(([category, { score }]) => ({ category, isGood: (score ?? 0) >= SCORE_MIN }));
    expect(scores.length).toBeGreaterThanOrEqual(4);
    expect(scores.filter(({ isGood }) => !isGood)).toEqual([]);
  },
  RUN_MS_MAX,
);
