import { randomBytes } from "node:crypto";
import { startKafkaServer } from "@brand-records/testkit";
import pg from "pg";
import { provideKafka } from "../backing-services.ts";
import { makeFolder, postmasterOf, removeFolder, removeLeftovers, startDatabase } from "../folder.ts";
import type { Owned } from "../owned.ts";
import { startProgram, type Program, type ProgramOptions } from "../program.ts";
import type { Build } from "./build.ts";
import { BENCH_ROLE } from "./database-counters.ts";
import { WebhookProduct } from "./product.ts";
import { startReceivers, type Receivers } from "./receivers.ts";

export interface Environment {
  readonly receivers: Receivers;
  readonly start: (program: ProgramOptions) => Program;
  /** Starts a build's product in a database and with a Kafka of its own. */
  startProduct(build: Build): Promise<WebhookProduct>;
}

/** Function tracking and nested statements: claims count wherever they run. */
const POSTGRES = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track": "all" };

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
  const postgres = await owned.own("postgres", startDatabase(folder, POSTGRES));
  const password = randomBytes(12).toString("hex");
  await query(postgres.url, `create role ${BENCH_ROLE} superuser login password '${password}'`);
  const startProduct = async (build: Build): Promise<WebhookProduct> => {
    const kafka = await owned.own(`kafka of ${build.name}`, startKafkaServer());
    await query(postgres.url, `create database ${build.name}_build`);
    const databaseUrl = urlOf(postgres.url, `${build.name}_build`);
    const parts = {
      build,
      databaseUrl,
      benchUrl: urlOf(databaseUrl, `${build.name}_build`, { user: BENCH_ROLE, password }),
      postgresPid: await postmasterOf(folder),
      brokers: kafka.brokers,
      kafkaPid: kafka.pid,
      receiversPid: receivers.program.pid,
      ports: receivers.ports,
      start,
    };
    return owned.own(`product of ${build.name}`, WebhookProduct.start(parts));
  };
  return { receivers, start, startProduct };
}

function urlOf(server: string, database: string, login?: { readonly user: string; readonly password: string }): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  if (login !== undefined) Object.assign(url, { username: login.user, password: login.password });
  return url.href;
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "bench" });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
