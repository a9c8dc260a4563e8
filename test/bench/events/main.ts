import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { startKafkaServer } from "@brand-records/testkit";
import { Kafka, logLevel } from "kafkajs";
import { ensureBackingServices } from "../../setup/ensure-backing-services.ts";
import { dataDirIn, makeFolder, removeFolder, removeLeftovers, startDatabase } from "../folder.ts";
import { Owned } from "../owned.ts";
import { startProgram } from "../program.ts";
import { spreadOf } from "../statistics.ts";
import { consumeBare, produceBare } from "./bare-loop.ts";
import { EventProduct } from "./product.ts";
import { MESSAGES, PARTITIONS, ROUNDS, TARGET_PER_SECOND } from "./settings.ts";

const USAGE = `npm run bench:events -- [--json FILE]

  From the outbox to the log, and from the log to deliveries, beside the same loop in bare kafkajs. About two minutes.

  --json FILE   writes everything that was measured
`;

const { values: options } = parseArgs({ options: { json: { type: "string" }, help: { type: "boolean" } } });
if (options.help) {
  process.stdout.write(USAGE);
  process.exit();
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const owned = new Owned();
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    interrupted = true;
    void owned.stop().then(() => process.exit(130));
  });
}

type Variant = "bare_produce" | "relay" | "bare_consume" | "intake";

try {
  const rates = await measure();
  await owned.stop();
  const medians = Object.fromEntries(Object.entries(rates).map(([name, values]) => [name, spreadOf(values).median])) as Record<
    Variant,
    number
  >;
  const result = {
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
    messages: MESSAGES,
    rounds: rates,
    relay_events_per_second: medians.relay,
    relay_over_bare: medians.relay / medians.bare_produce,
    intake_events_per_second: medians.intake,
    intake_over_bare: medians.intake / medians.bare_consume,
  };
  const line = (name: string, rate: number, ratio: number, of: string): string =>
    `  ${name.padEnd(8)}${Math.round(rate).toLocaleString("en").padStart(8)} events/s   ${ratio.toFixed(2)} of bare kafkajs (${Math.round(of === "produce" ? medians.bare_produce : medians.bare_consume).toLocaleString("en")})   target ${TARGET_PER_SECOND.toLocaleString("en")}: ${rate >= TARGET_PER_SECOND ? "met" : "MISSED"}`;
  process.stdout.write(
    `\n${line("relay", medians.relay, result.relay_over_bare, "produce")}\n${line("intake", medians.intake, result.intake_over_bare, "consume")}\n`,
  );
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
} catch (error) {
  // Interrupted: what breaks then is what we are stopping.
  if (!interrupted) {
    say(`\nThe benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    await owned.stop();
    process.exitCode = 1;
  }
}

/** Each variant once a round, in turn, on topics of their own. */
async function measure(): Promise<Record<Variant, number[]>> {
  await removeLeftovers();
  for (const [name, value] of await ensureBackingServices()) process.env[name] = value;
  const folder = await owned.own("folder", makeFolder(), removeFolder);
  say(`Starting Postgres in ${dataDirIn(folder)}, and Kafka`);
  const [postgres, kafka] = await Promise.all([owned.own("postgres", startDatabase(folder)), owned.own("kafka", startKafkaServer())]);
  const { brokers } = kafka;
  const start = (program: Parameters<typeof startProgram>[0]) => startProgram(program, { folder, profileDir: undefined });
  const product = await owned.own("product", EventProduct.prepare({ databaseUrl: postgres.url, brokers, start }));
  const rates: Record<Variant, number[]> = { bare_produce: [], relay: [], bare_consume: [], intake: [] };
  const note = (variant: Variant, rate: number): void => {
    rates[variant].push(rate);
    say(`  ${variant.padEnd(14)}${Math.round(rate).toLocaleString("en").padStart(8)}/s`);
  };
  for (let round = 1; round <= ROUNDS; round += 1) {
    say(`Round ${round} of ${ROUNDS}: ${MESSAGES.toLocaleString("en")} changes`);
    const [bare, ours] = [`bare.${round}`, `ours.${round}`];
    await createTopics(brokers, [bare, ours]);
    const messages = await product.change();
    note("bare_produce", await produceBare(brokers, bare, messages));
    note("relay", await product.relay(ours));
    note("bare_consume", await consumeBare(brokers, bare, messages.length));
    note("intake", await product.intake(ours));
  }
  return rates;
}

async function createTopics(brokers: string, topics: readonly string[]): Promise<void> {
  const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.ERROR }).admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: PARTITIONS })), waitForLeaders: true });
  await admin.disconnect();
}
