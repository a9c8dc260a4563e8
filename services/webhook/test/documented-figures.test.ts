import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_MESSAGE_BYTES_MAX } from "@brand-records/resources";
import { parseConfig } from "../src/config.ts";
import { BREAKER_FAILURES, IN_FLIGHT_MAX, IN_FLIGHT_START } from "../src/domain/lane.ts";
import { OUTCOME_KINDS } from "../src/domain/outcome.ts";
import { RECEIVERS_MAX, TESTS_MAX, TESTS_SECONDS } from "../src/domain/receiver.ts";
import { RESPONSE_BYTES_MAX } from "../src/sending/reply.ts";
import { ROOM_MAX } from "../src/storage/lanes-to-serve.ts";

/** Figures that documents repeat are those of the code. */

/** Text without line breaks, so that a sentence is found wherever it is wrapped. */
const read = (path: string): string => readFileSync(join(import.meta.dirname, "../../..", path), "utf8").replaceAll(/\s+/g, " ");
const webhooks = read("docs/webhooks.md");

const defaults = parseConfig({
  ENVIRONMENT: "live",
  DATABASE_URL: "postgres://127.0.0.1/brand_records",
  ACCOUNTS_ADDRESS: "127.0.0.1:1",
  RECEIVER_SECRET_KEYS: `1:${Buffer.alloc(32).toString("base64")}`,
});

const seconds = (text: string): number => {
  const unit = { s: 1, min: 60, h: 3_600 };
  return [...text.matchAll(/(\d+) (s|min|h)\b/g)].reduce(
    (sum, [, count, name]) => sum + Number(count) * unit[name as keyof typeof unit],
    0,
  );
};

it("docs/webhooks.md lists the attempts of the default schedule, and when each is due at the soonest", () => {
  const rows = [...webhooks.matchAll(/\| (\d+) \| ((?:\d+ (?:s|min|h) ?)+)\| ((?:\d+ (?:s|min|h) ?)+)\|/g)];
  expect(rows.map(([, , pause = ""]) => seconds(pause))).toEqual(defaults.RETRY_DELAYS_SECONDS);
  let since = 0;
  const sums = defaults.RETRY_DELAYS_SECONDS.map((delay) => (since += delay));
  // Whole minutes, once there is one.
  expect(rows.map(([, , , sum = ""]) => seconds(sum))).toEqual(sums.map((sum) => (sum < 60 ? sum : sum - (sum % 60))));
  expect(rows.at(-1)?.[1]).toBe(String(defaults.RETRY_DELAYS_SECONDS.length + 1));
});

it.each<[string, string]>([
  ["docs/webhooks.md", `**Any 2xx within ${defaults.DELIVERY_DEADLINE_MS / 1_000} seconds** is success.`],
  ["docs/webhooks.md", `Up to ${IN_FLIGHT_START} attempts run concurrently, more (up to ${IN_FLIGHT_MAX}) while they succeed`],
  ["docs/webhooks.md", `| receivers | ${RECEIVERS_MAX} to a brand`],
  ["docs/webhooks.md", `at most ${TESTS_MAX} tests in any ${TESTS_SECONDS} seconds`],
  ["docs/webhooks.md", `at most ${EVENT_MESSAGE_BYTES_MAX / 1_024} KiB; let your server take`],
  ["docs/webhooks.md", `Up to ${RESPONSE_BYTES_MAX / 1_024} KiB of its body are kept`],
  ["docs/webhooks.md", `After ${BREAKER_FAILURES === 10 ? "ten" : BREAKER_FAILURES} failed attempts in a row`],
  ["docs/webhooks.md", `kept for ${defaults.RETENTION_DAYS} days by default (\`RETENTION_DAYS\`)`],
  ["docs/platform.md", "a `created_at` over `RETENTION_DAYS` ago"],
  ["docs/decisions/0009-sending.md", `takes up to ${ROOM_MAX} due deliveries of each`],
])("%s says: %s", (path, sentence) => {
  expect(read(path)).toContain(sentence);
});

it("docs/webhooks.md, the protocol and the console explain every outcome of an attempt, and no other", () => {
  const table = webhooks.slice(webhooks.indexOf("| Outcome |"));
  const explained = [...table.matchAll(/\| `([a-z_]+)`/g)].map(([, outcome]) => outcome);
  expect(new Set(explained)).toEqual(new Set(OUTCOME_KINDS));
  const [, comment = ""] = /\/\/ (accepted \(2xx\).*?) string outcome =/.exec(read("proto/webhook/v1/webhook.proto")) ?? [];
  const [, texts = ""] = /const OUTCOMES[^{]*\{(.*?)\}/.exec(read("console/web/src/parts/deliveries/delivery-texts.ts")) ?? [];
  expect(new Set([...texts.matchAll(/([a-z_]+): "/g)].map(([, outcome]) => outcome))).toEqual(new Set(OUTCOME_KINDS));
  for (const outcome of OUTCOME_KINDS) expect(comment).toMatch(new RegExp(`\\b${outcome}\\b`));
});
