import type { Logger } from "@brand-records/telemetry";
import type { Admin, Kafka } from "kafkajs";
import type { EventLogConfig } from "../settings.ts";
import { explainRefusal } from "./connect-refusal.ts";
import { disconnect } from "./open-kafka.ts";
import { refusalIn } from "./refusal.ts";

const HOUR_MS = 3_600_000;
/** Ours have about 600 bytes. Larger messages of other writers are accepted and dead-lettered: rejecting them would stop their producer. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/** A dead letter is its message and the reason. */
const DEAD_LETTER_BYTES_MAX = MESSAGE_BYTES_MAX + 64 * 1024;
/** kafkajs reads no lz4, zstd or snappy. This makes the brokers store, and return, every batch uncompressed. */
const READABLE = { "compression.type": "uncompressed" };
/** Leaves time to look into dead letters. */
const DEAD_LETTER_RETENTION_MS = 90 * 24 * HOUR_MS;
/** Kafka's resource type for topics. (kafkajs' enum cannot be imported from an ES module.) */
export const TOPIC_RESOURCE = 2;

export const deadLetterTopicOf = (topic: string): string => `${topic}.dead`;

/**
 * Creates the topics that do not exist. Leaves existing ones as they are, and logs a warning where their settings differ.
 *
 * @param only one of the topics: a login needs no right to the other. Default: both
 */
export async function ensureTopics(kafka: Kafka, config: EventLogConfig, log: Logger, only?: string): Promise<void> {
  const { KAFKA_TOPIC: topic, KAFKA_PARTITIONS: partitions, KAFKA_REPLICATION_FACTOR: factor, KAFKA_RETENTION_HOURS: hours } = config;
  const replicationFactor = factor === 0 ? -1 : factor;
  const entries = (settings: Record<string, number | string>) =>
    Object.entries(settings).map(([name, value]) => ({ name, value: String(value) }));
  const both = [
    {
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: entries({ "retention.ms": hours * HOUR_MS, "max.message.bytes": MESSAGE_BYTES_MAX, ...READABLE }),
    },
    {
      topic: deadLetterTopicOf(topic),
      numPartitions: 1,
      replicationFactor,
      configEntries: entries({ "retention.ms": DEAD_LETTER_RETENTION_MS, "max.message.bytes": DEAD_LETTER_BYTES_MAX, ...READABLE }),
    },
  ];
  const wanted = both.filter((each) => only === undefined || each.topic === only);
  await withAdmin(kafka, async (admin) => {
    const topicNames = new Set(await admin.listTopics());
    const missing = wanted.filter((each) => !topicNames.has(each.topic));
    if (missing.length > 0) {
      // Returns false if another process has created them, which is just as good.
      await admin.createTopics({ topics: missing, waitForLeaders: true });
      log.info({ topics: missing.map((each) => each.topic) }, "topics created");
    }
    for (const { topic: name, numPartitions, configEntries } of wanted) {
      if (topicNames.has(name)) await warnOfDifferences(admin, { topic: name, numPartitions, configEntries }, log);
    }
  });
}

/** An existing topic keeps its settings. Logs the differences that may cause harm, which another retention does not. */
async function warnOfDifferences(
  admin: Admin,
  { topic, numPartitions, configEntries }: { topic: string; numPartitions: number; configEntries: { name: string; value: string }[] },
  log: Logger,
): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length;
  if (partitions !== numPartitions) log.warn({ topic, partitions, expected: numPartitions }, "topic partition count differs");
  const names = configEntries.map(({ name }) => name).filter((name) => name !== "retention.ms");
  const resources = await configsOf(admin, topic, names).catch((error: unknown) => {
    const refused = refusalIn(error);
    if (refused === undefined) throw error;
    // The comparison only warns: it must not keep a login without DESCRIBE_CONFIGS from its work.
    log.warn({ topic, refused }, "topic settings cannot be compared");
    return undefined;
  });
  if (resources === undefined) return;
  const actual = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]));
  for (const { name, value } of configEntries) {
    if (names.includes(name) && actual.get(name) !== value) {
      log.warn({ topic, setting: name, value: actual.get(name), expected: value }, "topic setting differs");
    }
  }
}

async function configsOf(admin: Admin, topic: string, names: string[]) {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic, configNames: names }],
  });
  return resources;
}

/**
 * Runs `work` with an admin connection, then closes it.
 *
 * @throws Error that names the setting, if the brokers refuse the connection
 */
export async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } catch (error) {
    // Brokers that expect a login close the connection only after the first request.
    throw explainRefusal(error);
  } finally {
    await disconnect(admin);
  }
}
