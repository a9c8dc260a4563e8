import { startKafkaServer } from "@brand-records/testkit";
import { provideKafka } from "../backing-services.ts";
import { benchProgram } from "../bench-program.ts";
import { makeFolder, postmasterOf, removeFolder, removeLeftovers, startDatabase } from "../folder.ts";
import type { Owned } from "../owned.ts";
import { startProgram, type Program, type ProgramOptions } from "../program.ts";
import { measure, type WebhookResult } from "./measure.ts";
import { WebhookProduct } from "./product.ts";
import { startReceivers } from "./receivers.ts";
import { report } from "./report.ts";

const USAGE = `npm run bench:webhooks -- [--json FILE]

  Measures rate and latency from outbox rows to recorded 2xx, and the effect of receivers that hang or are far behind on the
  others. Three to four minutes.

  --json FILE   writes all results
`;

await benchProgram({ usage: USAGE, run, report });

async function run(owned: Owned, log: (text: string) => void): Promise<WebhookResult> {
  await removeLeftovers();
  await provideKafka();
  const folder = await owned.own("folder", makeFolder(), removeFolder);
  log("Starting Postgres and Kafka");
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
  return measure({ product, receivers, start, log });
}
