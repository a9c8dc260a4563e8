import type { Logger } from "@brand-records/telemetry";
import type { Admin, Kafka } from "kafkajs";
import type { EventLogConfig } from "../settings.ts";
import { within } from "./within.ts";

const HOUR_MS = 3_600_000;
/** Ours have some 600 bytes. What others write has to come in before it can be set aside, rather than stop their producer. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/** A dead letter is its message and the reason. */
const DEAD_LETTER_BYTES_MAX = MESSAGE_BYTES_MAX + 64 * 1024;
/** Nobody looks after dead letters at once. */
const DEAD_RETENTION_MS = 90 * 24 * HOUR_MS;
const STOP_MS = 2_000;

export const deadTopicOf = (topic: string): string => `${topic}.dead`;

/** Makes the topics that are not there yet. An existing one is left as it is; one of another partition count is told. */
export async function ensureTopics(kafka: Kafka, config: EventLogConfig, log: Logger): Promise<void> {
  const { KAFKA_TOPIC: topic, KAFKA_PARTITIONS: partitions, KAFKA_REPLICATION_FACTOR: factor, KAFKA_RETENTION_HOURS: hours } = config;
  const replicationFactor = factor === 0 ? -1 : factor;
  const entries = (settings: Record<string, number>) => Object.entries(settings).map(([name, value]) => ({ name, value: String(value) }));
  const wanted = [
    {
      topic,
      numPartitions: partitions,
      replicationFactor,
      configEntries: entries({ "retention.ms": hours * HOUR_MS, "max.message.bytes": MESSAGE_BYTES_MAX }),
    },
    {
      topic: deadTopicOf(topic),
      numPartitions: 1,
      replicationFactor,
      configEntries: entries({ "retention.ms": DEAD_RETENTION_MS, "max.message.bytes": DEAD_LETTER_BYTES_MAX }),
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
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const actual = topics[0]?.partitions.length;
    if (actual !== partitions) {
      log.warn(
        { topic, partitions: actual, setting: partitions },
        "the topic has another number of partitions than KAFKA_PARTITIONS says; it keeps it",
      );
    }
  });
}

/** An admin connection for one piece of work. */
export async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await within(STOP_MS, admin.disconnect());
  }
}
