import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { openEnvironment } from "../harness/environment.ts";
import { benchProgram, type Owned } from "../harness/bench-program.ts";
import { spreadOf } from "../harness/statistics.ts";
import { consumeBare, produceBare } from "./bare-loop.ts";
import { EventProduct } from "./product.ts";
import { MESSAGES, PARTITIONS, ROUNDS, TARGET_PER_SECOND } from "./settings.ts";

const USAGE = `npm run bench:events -- [--json FILE]

  Measures the relay (outbox to Kafka) and the intake (Kafka to deliveries), each against bare kafkajs. About two minutes.

  --json FILE   writes all results
`;

type Variant = "bare_produce" | "relay" | "bare_consume" | "intake";

interface EventsResult {
  readonly messages: number;
  readonly rounds: Record<Variant, readonly number[]>;
  readonly relay_events_per_second: number;
  readonly relay_over_bare: number;
  readonly intake_events_per_second: number;
  readonly intake_over_bare: number;
}

await benchProgram({ usage: USAGE, run, report });

async function run(owned: Owned, log: (text: string) => void): Promise<EventsResult> {
  const rounds = await measure(owned, log);
  const median = (variant: Variant): number => spreadOf(rounds[variant]).median;
  return {
    messages: MESSAGES,
    rounds,
    relay_events_per_second: median("relay"),
    relay_over_bare: median("relay") / median("bare_produce"),
    intake_events_per_second: median("intake"),
    intake_over_bare: median("intake") / median("bare_consume"),
  };
}

function report(result: EventsResult): string {
  const whole = (rate: number): string => Math.round(rate).toLocaleString("en");
  const line = (name: string, rate: number, ratio: number): string =>
    `  ${name.padEnd(8)}${whole(rate).padStart(8)} events/s   ${ratio.toFixed(2)} of bare kafkajs (${whole(rate / ratio)})   target ${whole(TARGET_PER_SECOND)}: ${rate >= TARGET_PER_SECOND ? "met" : "MISSED"}`;
  return [
    line("relay", result.relay_events_per_second, result.relay_over_bare),
    line("intake", result.intake_events_per_second, result.intake_over_bare),
  ].join("\n");
}

/** Measures each variant once per round, on topics of that round. */
async function measure(owned: Owned, log: (text: string) => void): Promise<Record<Variant, number[]>> {
  const { folder, start, startPostgres, startKafka } = await openEnvironment(owned);
  log(`Starting Postgres in ${join(folder, "postgres")}, and Kafka`);
  const [postgres, { brokers }] = await Promise.all([startPostgres(), startKafka()]);
  const product = await owned.own("product", EventProduct.prepare({ databaseUrl: postgres.url, brokers, start }));
  const rates: Record<Variant, number[]> = { bare_produce: [], relay: [], bare_consume: [], intake: [] };
  const record = (variant: Variant, rate: number): void => {
    rates[variant].push(rate);
    log(`  ${variant.padEnd(14)}${Math.round(rate).toLocaleString("en").padStart(8)}/s`);
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    log(`Round ${round} of ${ROUNDS}: ${MESSAGES.toLocaleString("en")} changes`);
    const [bare, ours] = [`bare.${round}`, `ours.${round}`];
    await createTopics(brokers, [bare, ours]);
    const messages = await product.fillOutbox();
    record("bare_produce", await produceBare(brokers, bare, messages));
    record("relay", await product.relay(ours));
    record("bare_consume", await consumeBare(brokers, bare, messages.length));
    record("intake", await product.intake(ours));
  }
  return rates;
}

async function createTopics(brokers: string, topics: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.ERROR }).admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: PARTITIONS })), waitForLeaders: true });
  await admin.disconnect();
}
