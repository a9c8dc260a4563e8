import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestKafka } from "./kafka-request.ts";
import { eventually } from "./eventually.ts";
import { reserveKafkaServer, startKafkaServer, type KafkaServer } from "./kafka-server.ts";

const refused = expect.objectContaining({ code: "ECONNREFUSED" });

describe("startKafkaServer", () => {
  let kafka: KafkaServer;
  beforeAll(async () => {
    kafka = await startKafkaServer();
  });
  afterAll(() => kafka.stop());

  it("takes topics and records at once, and has them again on the same port after it was killed", async () => {
    const { brokers } = kafka;
    expect(await createTopic(kafka, "colors")).toBe("no error");
    await eventually(() => write(kafka, "colors", "violet"));
    await kafka.kill();
    await expect(createTopic(kafka, "shapes")).rejects.toEqual(refused);
    await kafka.start();
    expect(kafka.brokers).toBe(brokers);
    expect(await createTopic(kafka, "shapes")).toBe("no error");
    // Its partition needs a moment more than its topic.
    await eventually(async () => expect((await read(kafka, "colors")).includes("violet")).toBe(true));
  });

  it("answers after a thaw what was asked while it was frozen", async () => {
    await kafka.freeze();
    let answered = false;
    const asked = listTopics(kafka).finally(() => (answered = true));
    await expect(within(100, listTopics(kafka))).rejects.toThrow("no answer");
    expect(answered).toBe(false);
    await kafka.thaw();
    await expect(asked).resolves.toBeInstanceOf(Buffer);
    await eventually(async () => expect(await createTopic(kafka, "sounds")).toBe("no error"));
  });

  it("makes no topic that nobody created: a misspelt name is an error", async () => {
    const UNKNOWN_TOPIC = 3;
    await expect(write(kafka, "colours", "violet")).rejects.toThrow(`error ${UNKNOWN_TOPIC}`);
  });
});

describe("reserveKafkaServer", () => {
  let kafka: KafkaServer;
  beforeEach(async () => {
    kafka = await reserveKafkaServer();
  });
  afterEach(() => kafka.stop());

  it("knows where it will be, and refuses connections there until it is started", async () => {
    const { brokers } = kafka;
    expect(brokers).toMatch(/^127\.0\.0\.1:\d+$/);
    await expect(listTopics(kafka)).rejects.toEqual(refused);
    await kafka.kill();
    await kafka.start();
    expect(kafka.brokers).toBe(brokers);
    expect(await createTopic(kafka, "colors")).toBe("no error");
  });

  it("gives each its own port, also before they are started", async () => {
    const other = await reserveKafkaServer();
    expect(other.brokers).not.toBe(kafka.brokers);
    await other.stop();
  });

  it("removes the data of processes that are gone, and keeps that of those that are not", async () => {
    // Beyond the highest process id of any system.
    const leftover = join(tmpdir(), "brand-records-kafka-999999999-killed");
    await mkdir(join(leftover, "data"), { recursive: true });
    const next = await reserveKafkaServer();
    expect(existsSync(leftover)).toBe(false);
    await kafka.start();
    await next.stop();
    expect(await createTopic(kafka, "colors")).toBe("no error");
    await rm(leftover, { recursive: true, force: true });
  });

  it("stops a frozen one, and one that is gone, and leaves no data behind", async () => {
    const folders = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => name.includes(`-kafka-${process.pid}-`));
    const before = await folders();
    const other = await startKafkaServer();
    await other.freeze();
    await other.stop();
    await other.stop();
    await eventually(() => expect(listTopics(other)).rejects.toEqual(refused));
    expect(await folders()).toEqual(before);
  });
});

// Kafka's protocol as far as it is needed here, by https://kafka.apache.org/protocol

const int8 = (value: number): Buffer => Buffer.from([value & 0xff]);
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value].map((byte) => byte & 0xff));
const int32 = (value: number): Buffer => Buffer.from([value >> 24, value >> 16, value >> 8, value].map((byte) => byte & 0xff));
const int64 = (value: number): Buffer => Buffer.concat([int32(value < 0 ? -1 : 0), int32(value)]);
const text = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
const NULL_TEXT = int16(-1);
const FALSE = int8(0);
const EMPTY = int32(0);
/** An array of one element. */
const only = (...element: readonly Buffer[]): Buffer => Buffer.concat([int32(1), ...element]);
/** Zigzag; enough for -64 to 63. */
const varint = (value: number): Buffer => int8(value < 0 ? -2 * value - 1 : 2 * value);

const PARTITION = int32(0);
const WITHIN = int32(1_000);

const ask = (kafka: KafkaServer, key: number, version: number, ...body: readonly Buffer[]): Promise<Buffer> =>
  requestKafka(Number(kafka.brokers.split(":")[1]), { key, version, body: Buffer.concat(body) });

const listTopics = (kafka: KafkaServer): Promise<Buffer> => ask(kafka, 3, 1, int32(-1));

async function createTopic(kafka: KafkaServer, topic: string): Promise<string> {
  const [PARTITIONS, COPIES] = [int32(1), int16(1)];
  const answer = await ask(kafka, 19, 2, only(text(topic), PARTITIONS, COPIES, EMPTY, EMPTY), WITHIN, FALSE);
  return errorAt(answer, 4 + 4 + 2 + Buffer.byteLength(topic));
}

async function write(kafka: KafkaServer, topic: string, value: string): Promise<void> {
  const ACKS_OF_ALL = int16(-1);
  const batch = batchOf(value);
  const answer = await ask(kafka, 0, 3, NULL_TEXT, ACKS_OF_ALL, WITHIN, only(text(topic), only(PARTITION, int32(batch.length), batch)));
  const error = errorAt(answer, 4 + 2 + Buffer.byteLength(topic) + 4 + 4);
  if (error !== "no error") throw new Error(error);
}

/** With the records of the topic, as they were written. */
function read(kafka: KafkaServer, topic: string): Promise<Buffer> {
  const [CONSUMER, MIN_BYTES, MAX_BYTES, UNCOMMITTED] = [int32(-1), int32(1), int32(10_000), int8(0)];
  const from = only(text(topic), only(PARTITION, int64(0), MAX_BYTES));
  return ask(kafka, 1, 4, CONSUMER, WITHIN, MIN_BYTES, MAX_BYTES, UNCOMMITTED, from);
}

function errorAt(answer: Buffer, position: number): string {
  const code = answer.readInt16BE(position);
  return code === 0 ? "no error" : `error ${code}`;
}

function batchOf(value: string): Buffer {
  const [NO_KEY, NO_HEADERS, NO_PRODUCER, FIRST] = [varint(-1), varint(0), [int64(-1), int16(-1), int32(-1)], varint(0)];
  const record = Buffer.concat([int8(0), FIRST, FIRST, NO_KEY, varint(value.length), Buffer.from(value), NO_HEADERS]);
  const now = Buffer.alloc(8);
  now.writeBigInt64BE(BigInt(Date.now()));
  const checked = Buffer.concat([int16(0), int32(0), now, now, ...NO_PRODUCER, int32(1), varint(record.length), record]);
  const MAGIC = int8(2);
  const rest = Buffer.concat([int32(-1), MAGIC, int32(crc32c(checked)), checked]);
  return Buffer.concat([int64(0), int32(rest.length), rest]);
}

function crc32c(bytes: Buffer): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc;
}

function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  return Promise.race([answer, new Promise<never>((_, reject) => setTimeout(() => reject(new Error("no answer")), timeoutMs))]);
}
