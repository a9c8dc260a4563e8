import type { Owned } from "../harness/bench-program.ts";
import { openDatabases, STATEMENT_SETTINGS, type BenchDatabase } from "../harness/databases.ts";
import { openEnvironment, type Environment } from "../harness/environment.ts";
import type { Build } from "../harness/programs.ts";
import { WebhookProduct } from "./product.ts";
import { startReceivers, type Receivers } from "./receivers.ts";

export interface WebhookEnvironment extends Environment {
  readonly receivers: Receivers;
  createDatabase(name: string): Promise<BenchDatabase>;
  /** Starts a build's product in a database and with a Kafka of its own. */
  startProduct(build: Build): Promise<WebhookProduct>;
}

export async function startEnvironment(owned: Owned): Promise<WebhookEnvironment> {
  const environment = await openEnvironment(owned);
  const { start, startPostgres, startKafka, watchForeign } = environment;
  const receivers = await startReceivers(start);
  const postgres = await startPostgres(STATEMENT_SETTINGS);
  const createDatabase = await openDatabases(postgres.url);
  const startProduct = async (build: Build): Promise<WebhookProduct> => {
    const kafka = await startKafka();
    const parts = {
      ...(await createDatabase(`${build.name}_build`)),
      build,
      postgresPid: postgres.pid,
      brokers: kafka.brokers,
      kafkaPid: kafka.pid,
      receiversPid: receivers.program.pid,
      ports: receivers.ports,
      start,
      watchForeign,
    };
    return owned.own(`product of ${build.name}`, WebhookProduct.start(parts));
  };
  return { ...environment, receivers, createDatabase, startProduct };
}
