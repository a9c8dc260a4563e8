import { Kafka, logLevel, Partitioners } from "kafkajs";
import { PUBLISH_BATCH } from "./settings.ts";

export interface Message {
  readonly key: string;
  readonly value: string;
}

const kafkaOf = (brokers: string): Kafka => new Kafka({ clientId: "bare", brokers: [brokers], logLevel: logLevel.ERROR });

/** Produces with bare kafkajs, in the relay's batches and with its acknowledgements. Returns messages per second. */
export async function produceBare(brokers: string, topic: string, messages: readonly Message[]): Promise<number> {
  const producer = kafkaOf(brokers).producer({
    allowAutoTopicCreation: false,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const startedAt = performance.now();
  for (let at = 0; at < messages.length; at += PUBLISH_BATCH) {
    const batch = messages.slice(at, at + PUBLISH_BATCH).map((message) => ({ ...message, headers: { traceparent } }));
    await producer.send({ topic, acks: -1, messages: batch });
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await producer.disconnect();
  return messages.length / seconds;
}

/** Reads all messages without parsing them, and commits after each batch. Returns messages per second from the first message on. */
export async function consumeBare(brokers: string, topic: string, total: number): Promise<number> {
  const consumer = kafkaOf(brokers).consumer({ groupId: `${topic}.bare`, maxWaitTimeInMs: 300, allowAutoTopicCreation: false });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  let startedAt = 0;
  let received = 0;
  const done = Promise.withResolvers<number>();
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 4,
    async eachBatch({ batch, resolveOffset, heartbeat }) {
      startedAt ||= performance.now();
      const next = String(Number(batch.lastOffset()) + 1);
      await consumer.commitOffsets([{ topic, partition: batch.partition, offset: next }]);
      resolveOffset(batch.lastOffset());
      received += batch.messages.length;
      if (received >= total) done.resolve(received / ((performance.now() - startedAt) / 1_000));
      await heartbeat();
    },
  });
  const rate = await done.promise;
  await consumer.disconnect();
  return rate;
}
