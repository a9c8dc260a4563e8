import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ensureBackingServices } from "./ensure-backing-services.ts";
import { offerSharedServices } from "./shared-services.ts";
import { startKafka, startRedis } from "./shared-servers.ts";
import { startPostgres } from "./start-postgres.ts";
import { stopAll } from "./started-services.ts";

/**
 * Starts one Redis, one Kafka and one Postgres for all tests. stop-backing-services.ts or a signal ends them; the next run
 * removes what a killed run leaves behind.
 *
 * TEST_POSTGRES_URL   a Postgres, as superuser; yours if already set
 * TEST_REDIS_URL      a Redis; yours if REDIS_URL is set
 * REDIS_SERVER        the binary that startRedisServer() runs
 * TEST_KAFKA_BROKERS  a Kafka; yours if KAFKA_BROKERS is set: tests name their topics after TEST_RUN
 * KAFKA_LIB_DIR       the jars that startKafkaServer() runs with JAVA
 * TEST_SERVICES_URL   starts the services that files share, at its first request
 * TEST_RUN            distinguishes this run's databases and topics from those of another
 * NODE_COMPILE_CACHE  caches compiled code: each of about 150 process starts takes a fifth less CPU time
 */
export default async function startBackingServices(): Promise<void> {
  process.env["NODE_COMPILE_CACHE"] ??= join(process.cwd(), "node_modules/.cache/node-compile");
  process.env["TEST_RUN"] = randomBytes(4).toString("hex");
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(130)));
  }
  try {
    const found = await ensureBackingServices();
    await Promise.all([startRedis(found), startKafka(found), startPostgres()]);
    // Last, because what starts last stops first.
    await offerSharedServices();
  } catch (error) {
    // Jest does not run the stop hook when the start hook fails.
    await stopAll();
    throw error;
  }
}
