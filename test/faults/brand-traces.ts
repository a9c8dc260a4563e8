import { randomUUID } from "node:crypto";
import type { Database } from "@brand-records/postgres";
import { Redis } from "ioredis";
import type { Kafka } from "kafkajs";
import { quietKafka, withKafkaAdmin } from "../kafka.ts";

/** Finds the rows of every table of every schema in which a text occurs, whatever the column's type. */
export async function rowsWith(db: Database, text: string): Promise<{ table: string; row: string }[]> {
  const tables = await db.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  // Bytes are printed in hexadecimal.
  const patterns = [text, Buffer.from(text).toString("hex")].map((part) => `%${part}%`);
  const found: { table: string; row: string }[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ row: string }>(`select t::text as row from ${name} t where t::text like any($1::text[]) limit 3`, [
      patterns,
    ]);
    found.push(...rows.map(({ row }) => ({ table: name, row })));
  }
  return found;
}

/** Reads values of each type that our processes write. A dump would not do: it is compressed. */
const READERS: Readonly<Record<string, (redis: Redis, key: string) => Promise<unknown>>> = {
  string: (redis, key) => redis.get(key),
  zset: (redis, key) => redis.zrange(key, "0", "-1"),
  list: (redis, key) => redis.lrange(key, 0, -1),
  hash: (redis, key) => redis.hgetall(key),
  /** It expired meanwhile. */
  none: async () => "",
};

/** Finds the keys of a Redis of our own that hold a text, in their name or value. @throws for a value of another type */
export async function redisKeysWith(url: string, text: string): Promise<string[]> {
  const redis = new Redis(url);
  try {
    const found: string[] = [];
    for (const key of await redis.keys("*")) {
      const type = await redis.type(key);
      const read = READERS[type];
      if (read === undefined) throw new Error(`${key} is a ${type}, which this does not read`);
      if (`${key} ${JSON.stringify(await read(redis, key))}`.includes(text)) found.push(key);
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

/** Finds the messages that hold a text, in every topic whose name begins so. */
export function messagesWith(brokers: string, topicPrefix: string, text: string): Promise<string[]> {
  return withKafkaAdmin(brokers, async (admin) => {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(topicPrefix));
    const found: string[] = [];
    for (const topic of topics) {
      const left = new Map(
        (await admin.fetchTopicOffsets(topic))
          .filter(({ low, high }) => low !== high)
          .map(({ partition, high }) => [partition, Number(high)]),
      );
      if (left.size > 0)
        await readAll(quietKafka(brokers), topic, left, (message) => void (message.includes(text) && found.push(`${topic}: ${message}`)));
    }
    return found;
  });
}

/** @param left where each partition ends */
async function readAll(kafka: Kafka, topic: string, left: Map<number, number>, onMessage: (text: string) => void): Promise<void> {
  const groupId = `search.${randomUUID()}`;
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 100 });
  const done = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      const { key, value, headers, offset } = message;
      onMessage(
        JSON.stringify([key?.toString(), value?.toString(), Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)])]),
      );
      if (Number(offset) + 1 >= (left.get(partition) ?? 0)) left.delete(partition);
      if (left.size === 0) done.resolve();
    },
  });
  await done.promise;
  await consumer.disconnect();
}
