import type { Logger } from "@brand-records/telemetry";
import type { Admin, Kafka } from "kafkajs";
import type { EventLogConfig } from "../settings.ts";
import { disconnect } from "./open-kafka.ts";

const HOUR_MS = 3_600_000;
/** Ours have some 600 bytes. What others write must come in before it can be set aside, rather than stop their producer. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/** A dead letter is its message and the reason. */
const DEAD_LETTER_BYTES_MAX = MESSAGE_BYTES_MAX + 64 * 1024;
/** kafkajs reads no lz4, zstd or snappy. With this the brokers hand out what they were sent in a form that everybody reads. */
const READABLE = { "compression.type": "uncompressed" };
/** Nobody looks after dead letters at once. */
const DEAD_RETENTION_MS = 90 * 24 * HOUR_MS;
/** Kafka's number for the kind of thing whose settings are asked for. (kafkajs' enum cannot be imported from an ES module.) */
const TOPIC = 2;

export const deadTopicOf = (topic: string): string => `${topic}.dead`;

/** Makes the topics that are not there yet. An existing one is left as it is; one of another partition count is told. */
export async function ensureTopics(kafka: Kafka, config: EventLogConfig, log: Logger): Promise<void> {
  const { KAFKA_TOPIC: topic, KAFKA_PARTITIONS: partitions, KAFKA_REPLICATION_FACTOR: factor, KAFKA_RETENTION_HOURS: hours } = config;
  const replicationFactor = factor === 0 ? -1 : factor;
  const entries = (settings: Record<string, number | string>) =>
    Object.entries(settings).map(([name, value]) => ({ name, value: String(value) }));
  const wanted = [
    {
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: entries({ "retention.ms": hours * HOUR_MS, "max.message.bytes": MESSAGE_BYTES_MAX, ...READABLE }),
    },
    {
      topic: deadTopicOf(topic),
      numPartitions: 1,
      replicationFactor,
      configEntries: entries({ "retention.ms": DEAD_RETENTION_MS, "max.message.bytes": DEAD_LETTER_BYTES_MAX, ...READABLE }),
    },
  ];
  await withAdmin(kafka, async (admin) => {
    const there = new Set(await admin.listTopics());
    const missing = wanted.filter((each) => !there.has(each.topic));
    if (missing.length > 0) {
      // Answers false if somebody else was quicker, which is as good.
      await admin.createTopics({ topics: missing, waitForLeaders: true });
      log.info({ topics: missing.map((each) => each.topic) }, "topics made");
    }
    for (const { topic: name, numPartitions, configEntries } of wanted) {
      if (there.has(name)) await tellDifferences(admin, { topic: name, numPartitions, configEntries }, log);
    }
  });
}

/** A topic that somebody else has made keeps what it has; what may hurt is told. */
async function tellDifferences(
  admin: Admin,
  { topic, numPartitions, configEntries }: { topic: string; numPartitions: number; configEntries: { name: string; value: string }[] },
  log: Logger,
): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length;
  if (partitions !== numPartitions)
    log.warn({ topic, partitions, expected: numPartitions }, "the topic has another number of partitions, and keeps it");
  const names = configEntries.map(({ name }) => name).filter((name) => name !== "retention.ms");
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC, name: topic, configNames: names }],
  });
  const actual = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]));
  for (const { name, value } of configEntries) {
    if (names.includes(name) && actual.get(name) !== value) {
      log.warn(
        { topic, setting: name, value: actual.get(name), expected: value },
        "the topic is set otherwise than it would have been made",
      );
    }
  }
}

/** An admin connection for one piece of work. */
export async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await disconnect(admin);
  }
}
