import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "@brand-records/telemetry";
import type { Admin, Kafka, PartitionMetadata } from "kafkajs";
import type { EventLogConfig } from "../settings.ts";
import { explainRefusal, refusalIn } from "./errors.ts";
import { NO_LEADER } from "./partition-errors.ts";
import { disconnect } from "./open-kafka.ts";

const HOUR_MS = 3_600_000;
/** Ours have about 600 bytes. Larger messages of other writers are accepted and dead-lettered: rejecting them would stop their producer. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/** What the brokers compare each batch with. */
const BATCH_BYTES_SETTING = "max.message.bytes";
/** A dead letter is its message and the reason. */
const DEAD_LETTER_BYTES_MAX = MESSAGE_BYTES_MAX + 64 * 1024;
/** kafkajs reads no lz4, zstd or snappy. This makes the brokers store, and return, every batch uncompressed. */
const READABLE = { "compression.type": "uncompressed" };
const DEAD_LETTER_RETENTION_MS = 90 * 24 * HOUR_MS;
/** A new topic's partitions get their leaders within this time, or later, when the caller tries again. */
const LEADER_ATTEMPTS = 20;
const LEADER_EVERY_MS = 100;
/** Kafka's resource type for topics. (kafkajs' enum cannot be imported from an ES module.) */
export const TOPIC_RESOURCE = 2;

export const deadLetterTopicOf = (topic: string): string => `${topic}.dead`;

export interface TopicState {
  readonly partitions: PartitionMetadata[];
  /** The topic's max.message.bytes; undefined if this login may not read it. */
  readonly batchBytesMax: number | undefined;
}

/**
 * Creates the topics that do not exist. Leaves existing ones as they are, and logs a warning where their settings differ.
 *
 * @param only one of the topics: a login needs no right to the other. Default: both
 */
export async function ensureTopics(kafka: Kafka, config: EventLogConfig, log: Logger, only?: string): Promise<TopicState[]> {
  const { KAFKA_TOPIC: topic, KAFKA_PARTITIONS: partitions, KAFKA_REPLICATION_FACTOR: factor, KAFKA_RETENTION_HOURS: hours } = config;
  const topicOf = (name: string, numPartitions: number, retentionMs: number, bytesMax: number) => ({
    topic: name,
    numPartitions,
    replicationFactor: factor === 0 ? -1 : factor,
    configEntries: Object.entries({ "retention.ms": retentionMs, [BATCH_BYTES_SETTING]: bytesMax, ...READABLE }).map(([name, value]) => ({
      name,
      value: String(value),
    })),
  });
  const both = [
    topicOf(topic, partitions, hours * HOUR_MS, MESSAGE_BYTES_MAX),
    topicOf(deadLetterTopicOf(topic), 1, DEAD_LETTER_RETENTION_MS, DEAD_LETTER_BYTES_MAX),
  ];
  const wanted = both.filter((each) => only === undefined || each.topic === only);
  return withAdmin(kafka, async (admin) => {
    const topicNames = new Set(await admin.listTopics());
    const missing = wanted.filter((each) => !topicNames.has(each.topic));
    if (missing.length > 0) {
      // Returns false if another process has created them, which is just as good.
      await admin.createTopics({ topics: missing, waitForLeaders: false });
      log.info({ topics: missing.map((each) => each.topic) }, "topics created");
    }
    const states: TopicState[] = [];
    for (const each of wanted) {
      const isNew = !topicNames.has(each.topic);
      const partitions = await partitionsOf(admin, each.topic, isNew ? LEADER_ATTEMPTS : 1);
      const bytesMax = isNew
        ? each.configEntries.find(({ name }) => name === BATCH_BYTES_SETTING)?.value
        : await warnOfDifferences(admin, each, partitions.length, log);
      states.push({ partitions, batchBytesMax: bytesMax === undefined ? undefined : Number(bytesMax) });
    }
    return states;
  });
}

/** A topic that was just created may not be known yet, and a broker may not know yet that it leads a partition. */
async function partitionsOf(admin: Admin, topic: string, attempts: number): Promise<PartitionMetadata[]> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics[0]?.partitions ?? [];
    if (attempts === 1) return partitions;
    if (partitions.every(({ leader }) => leader !== NO_LEADER)) {
      await admin.fetchTopicOffsets(topic);
      return partitions;
    }
  } catch (error) {
    if (attempts === 1) throw error;
  }
  await pause(LEADER_EVERY_MS);
  return partitionsOf(admin, topic, attempts - 1);
}

/** What this process has warned of: it connects again every two seconds while a partition has no leader. */
const warned = new Set<string>();

function warnOnce(log: Logger, fields: { readonly topic: string; readonly [name: string]: unknown }, message: string): void {
  const key = JSON.stringify([message, fields]);
  if (!warned.has(key)) log.warn(fields, message);
  warned.add(key);
}

/**
 * An existing topic keeps its settings. Logs the differences that may cause harm, which another retention does not.
 *
 * @returns its max.message.bytes, if this login may read it
 */
async function warnOfDifferences(
  admin: Admin,
  { topic, numPartitions, configEntries }: { topic: string; numPartitions: number; configEntries: { name: string; value: string }[] },
  partitions: number,
  log: Logger,
): Promise<string | undefined> {
  if (partitions !== numPartitions) warnOnce(log, { topic, partitions, expected: numPartitions }, "topic partition count differs");
  const names = configEntries.map(({ name }) => name).filter((name) => name !== "retention.ms");
  const actual = await settingsOf(admin, topic, names).catch((error: unknown) => {
    const refused = refusalIn(error);
    if (refused === undefined) throw error;
    // The comparison only warns: it must not keep a login without DESCRIBE_CONFIGS from its work.
    warnOnce(log, { topic, refused }, "topic settings cannot be compared");
    return undefined;
  });
  if (actual === undefined) return undefined;
  for (const { name, value } of configEntries) {
    if (names.includes(name) && actual.get(name) !== value) {
      warnOnce(log, { topic, setting: name, value: actual.get(name), expected: value }, "topic setting differs");
    }
  }
  return actual.get(BATCH_BYTES_SETTING);
}

export async function settingsOf(admin: Admin, topic: string, configNames: string[]): Promise<Map<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic, configNames }],
  });
  return new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]));
}

/** Runs `work` with an admin connection, then closes it. @throws Error that names the setting, if the brokers refuse the connection */
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
