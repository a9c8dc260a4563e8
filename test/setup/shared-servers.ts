import { startKafkaServer, startRedisServer } from "@brand-records/testkit";
import { own } from "./started-services.ts";

/** Names and values that ensure.sh printed. */
type Found = ReadonlyMap<string, string>;

/** Sets TEST_REDIS_URL, after starting a Redis if ensure.sh found none, and the variables of `startRedisServer`. */
export async function startRedis(found: Found): Promise<void> {
  exportFound(found, ["REDIS_SERVER"]);
  process.env["TEST_REDIS_URL"] = found.get("REDIS_URL") ?? (await startOwned("redis", startRedisServer())).url;
}

/** Sets TEST_KAFKA_BROKERS, after starting a Kafka if ensure.sh found none, and the variables of `startKafkaServer`. */
export async function startKafka(found: Found): Promise<void> {
  exportFound(found, ["KAFKA_LIB_DIR", "JAVA"]);
  process.env["TEST_KAFKA_BROKERS"] = found.get("KAFKA_BROKERS") ?? (await startOwned("kafka", startKafkaServer())).brokers;
}

function exportFound(found: Found, names: readonly string[]): void {
  for (const name of names) {
    const value = found.get(name);
    if (value !== undefined) process.env[name] = value;
  }
}

async function startOwned<T extends { stop(): Promise<void> }>(name: string, starting: Promise<T>): Promise<T> {
  const server = await starting;
  own(name, () => server.stop());
  return server;
}
