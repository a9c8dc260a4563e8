import { signIn, type ConsoleCaller } from "../console-calls.ts";
import { runLighthouse, startSignedIn } from "../lighthouse.ts";
import { planInput, postPlan } from "../plan-input.ts";
import { startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: on a phone that has loaded nothing before, pages of the console score 90 or more in Lighthouse, and 100 for access. */

const RUNS = 5;
const RUNS_MS_MAX = 10 * 60_000;

let stack: Stack;
let brand: TestBrand;
let owner: ConsoleCaller;
let url: string;
let signedIn: Awaited<ReturnType<typeof startSignedIn>>;
const paths: Record<string, string> = {
  "the sign-in": "/sign-in",
  "the overview": "/developers",
  keys: "/developers/keys",
  "the audit log": "/developers/audit",
};

beforeAll(async () => {
  stack = await startStack({ hasConsole: true, envOf: { webhook: { RECEIVERS_ON_LOOPBACK: "true" } } });
  url = stack.gateways[0].console?.url ?? "";
  brand = await stack.createBrand({ permissions: ["campaigns:prepare"] });
  owner = await signIn(stack, url, brand.owner);
  signedIn = await startSignedIn(url, owner.cookie);
  const receiver = { url: "http://127.0.0.1:9/hooks", label: "Warehouse", events: ["payout.paid"] };
  const created = await owner.call("receivers.create", { brand_id: brand.id, ...receiver });
  paths["a receiver"] = `/developers/receivers/${created.receiver.id}`;
  const response = await postPlan(stack.url, brand.key, planInput());
  paths["a plan"] = ((await response.json()) as { readonly review_path: string }).review_path;
}, RUNS_MS_MAX);
afterAll(async () => {
  signedIn?.stop();
  await stack?.stop();
});

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

it.each(["the sign-in", "the overview", "keys", "the audit log", "a receiver", "a plan"])(
  "%s",
  async (name) => {
    const found: Record<"performance" | "accessibility" | "shift" | "largestMs" | "blockedMs", number>[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const { categories, audits, finalDisplayedUrl } = await runLighthouse((name === "the sign-in" ? url : signedIn.url) + paths[name]);
      expect(finalDisplayedUrl).toContain(paths[name]);
      found.push({
        performance: categories["performance"]?.score ?? 0,
        accessibility: categories["accessibility"]?.score ?? 0,
        shift: audits["cumulative-layout-shift"]?.numericValue ?? 1,
        largestMs: audits["largest-contentful-paint"]?.numericValue ?? 0,
        blockedMs: audits["total-blocking-time"]?.numericValue ?? 0,
      });
    }
    const medianOf = (what: keyof (typeof found)[number]): number => median(found.map((one) => one[what]));
    // The runs show why it fails.
    const isGood = medianOf("performance") >= 0.9 && medianOf("accessibility") === 1 && medianOf("shift") <= 0.05;
    expect({ found, isGood }).toEqual({ found, isGood: true });
  },
  RUNS_MS_MAX,
);
