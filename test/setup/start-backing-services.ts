import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ensureBackingServices } from "./ensure-backing-services.ts";
import { startKafka } from "./start-kafka.ts";
import { startPostgres } from "./start-postgres.ts";
import { startRedis } from "./start-redis.ts";
import { stopAll } from "./started-services.ts";

/**
 * Before the first test: one Redis, one Kafka and one Postgres for all of them. They end with stop-backing-services.ts or by a
 * signal; what a killed run left behind is removed by the next.
 *
 * TEST_POSTGRES_URL   a superuser of a Postgres; yours, if it is set already
 * TEST_REDIS_URL      a Redis; yours, if REDIS_URL is set
 * REDIS_SERVER        the binary startRedisServer() runs, or REDIS_IMAGE where there is none
 * TEST_KAFKA_BROKERS  a Kafka; yours, if KAFKA_BROKERS is set: tests name their topics after TEST_RUN
 * KAFKA_LIB_DIR       the jars startKafkaServer() runs with JAVA, or KAFKA_IMAGE where there are none
 * TEST_RUN            tells this run's databases and topics from those of another
 * NODE_COMPILE_CACHE  compiled code of the processes that tests start: each of some 150 starts takes a fifth less CPU time
 * BRAND_RECORDS_RUN   this process: containers labelled with it go when it does
 */
export default async function startBackingServices(): Promise<void> {
  process.env["BRAND_RECORDS_RUN"] = String(process.pid);
  process.env["NODE_COMPILE_CACHE"] ??= join(process.cwd(), "node_modules/.cache/node-compile");
  process.env["TEST_RUN"] = randomBytes(4).toString("hex");
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(130)));
  }
  try {
    const found = await ensureBackingServices();
    await Promise.all([startRedis(found), startKafka(found), startPostgres()]);
  } catch (error) {
    // Jest runs no stop hook when the start hook fails.
    await stopAll();
    throw error;
  }
}
