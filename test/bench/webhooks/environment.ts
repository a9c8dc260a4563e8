import { startKafkaServer } from "@brand-records/testkit";
import { provideKafka } from "../backing-services.ts";
import type { Build } from "../build.ts";
import { openDatabases, STATEMENT_SETTINGS, type BenchDatabase } from "../databases.ts";
import { makeFolder, postmasterOf, removeFolder, removeLeftovers, startDatabase } from "../folder.ts";
import type { Owned } from "../owned.ts";
import { startProgram, type Program, type ProgramOptions } from "../program.ts";
import { WebhookProduct } from "./product.ts";
import { startReceivers, type Receivers } from "./receivers.ts";

export interface Environment {
  readonly receivers: Receivers;
  readonly start: (program: ProgramOptions) => Program;
  createDatabase(name: string): Promise<BenchDatabase>;
  /** Starts a build's product in a database and with a Kafka of its own. */
  startProduct(build: Build): Promise<WebhookProduct>;
}

/** Starts what needs no product: the receivers. */
export async function startReceiversAlone(owned: Owned): Promise<Pick<Environment, "receivers" | "start"> & { readonly folder: string }> {
  await removeLeftovers();
  const folder = await owned.own("folder", makeFolder(), removeFolder);
  const start = (options: ProgramOptions): Program => {
    const program = startProgram(options, { folder, profileDir: undefined });
    void owned.own(options.name, Promise.resolve(program));
    return program;
  };
  return { folder, start, receivers: await startReceivers(start) };
}

export async function startEnvironment(owned: Owned): Promise<Environment> {
  await provideKafka();
  const { folder, start, receivers } = await startReceiversAlone(owned);
  const postgres = await owned.own("postgres", startDatabase(folder, STATEMENT_SETTINGS));
  const createDatabase = await openDatabases(postgres.url);
  const startProduct = async (build: Build): Promise<WebhookProduct> => {
    const kafka = await owned.own(`kafka of ${build.name}`, startKafkaServer());
    const parts = {
      ...(await createDatabase(`${build.name}_build`)),
      build,
      postgresPid: await postmasterOf(folder),
      brokers: kafka.brokers,
      kafkaPid: kafka.pid,
      receiversPid: receivers.program.pid,
      ports: receivers.ports,
      start,
    };
    return owned.own(`product of ${build.name}`, WebhookProduct.start(parts));
  };
  return { receivers, start, createDatabase, startProduct };
}
