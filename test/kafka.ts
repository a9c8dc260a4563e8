import { Kafka, logLevel, Partitioners, type Admin } from "kafkajs";

export const quietKafka = (brokers: string): Kafka => new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });

export async function withKafkaAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = quietKafka(brokers).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Publishes messages as a producer that knows nothing of records does: each to the partition of its key. */
export async function publishToKafka(
  brokers: string,
  topic: string,
  messages: readonly { readonly key: string; readonly value: Buffer | string }[],
): Promise<void> {
  const producer = quietKafka(brokers).producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: [...messages] });
  await producer.disconnect();
}
