import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { startKafkaServer } from "@brand-records/testkit";
import { ensureBackingServices } from "../../setup/ensure-backing-services.ts";
import { makeFolder, postmasterOf, removeFolder, removeLeftovers, startDatabase } from "../folder.ts";
import { Owned } from "../owned.ts";
import { startProgram, type Program, type ProgramOptions } from "../program.ts";
import { measure } from "./measure.ts";
import { WebhookProduct } from "./product.ts";
import { startReceivers } from "./receivers.ts";
import { report } from "./report.ts";

const USAGE = `npm run bench:webhooks -- [--json FILE]

  From outbox rows to recorded 2xx: rate, latency, and what receivers that hang or are far behind cost the others. Three to
  four minutes.

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

try {
  const result = await run();
  await owned.stop();
  process.stdout.write(`\n${report(result)}\n`);
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version };
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ machine, ...result }, null, 2)}\n`);
} catch (error) {
  // Interrupted: what breaks then is what we are stopping.
  if (!interrupted) {
    say(`\nThe benchmark failed: ${error instanceof Error ? error.message : String(error)}`);
    await owned.stop();
    process.exitCode = 1;
  }
}

async function run(): Promise<Awaited<ReturnType<typeof measure>>> {
  await removeLeftovers();
  for (const [name, value] of await ensureBackingServices()) process.env[name] = value;
  const folder = await owned.own("folder", makeFolder(), removeFolder);
  say("Starting Postgres and Kafka");
  const [postgres, kafka] = await Promise.all([
    owned.own("postgres", startDatabase(folder, { shared_preload_libraries: "pg_stat_statements" })),
    owned.own("kafka", startKafkaServer()),
  ]);
  const start = (options: ProgramOptions): Program => {
    const program = startProgram(options, { folder, profileDir: undefined });
    void owned.own(options.name, Promise.resolve(program));
    return program;
  };
  const receivers = await startReceivers(start);
  const product = await owned.own(
    "product",
    WebhookProduct.start({
      databaseUrl: postgres.url,
      postgresPid: await postmasterOf(folder),
      kafkaPid: kafka.pid,
      brokers: kafka.brokers,
      receiversPid: receivers.program.pid,
      ports: receivers.ports,
      start,
    }),
  );
  return measure({ product, receivers, start, say });
}
