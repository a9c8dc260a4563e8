import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "./eventually.ts";
import { requestKafka } from "./kafka-request.ts";
import { type KafkaServer, reserveKafkaServer, startKafkaServer } from "./kafka-server.ts";

const refused = expect.objectContaining({ code: "ECONNREFUSED" });

describe("startKafkaServer", () => {
  let kafka: KafkaServer;
  beforeAll(async () => {
    kafka = await startKafkaServer();
  });
  afterAll(() => kafka.stop());

  it("accepts topics and records immediately, and still has them on the same port after a kill", async () => {
    const { brokers } = kafka;
    expect(await createTopic(kafka, "colors")).toBe("no error");
    await eventually(() => write(kafka, "colors", "violet"));
    await kafka.kill();
    await expect(createTopic(kafka, "shapes")).rejects.toEqual(refused);
    await kafka.start();
    expect(kafka.brokers).toBe(brokers);
    expect(await createTopic(kafka, "shapes")).toBe("no error");
    // The partition is ready slightly later than the topic.
    await eventually(async () => expect((await read(kafka, "colors")).includes("violet")).toBe(true));
  });

  it("responds after a thaw to a request sent while it was frozen", async () => {
    await kafka.freeze();
    const response = listTopics(kafka);
    expect(await Promise.race([response, pause(100, "no response")])).toBe("no response");
    await kafka.thaw();
    await expect(response).resolves.toBeInstanceOf(Buffer);
    await eventually(async () => expect(await createTopic(kafka, "sounds")).toBe("no error"));
  });

  it("never creates topics automatically: a misspelt name is an error", async () => {
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

  it("reserves an address that refuses connections until the server is started", async () => {
    const { brokers } = kafka;
    expect(brokers).toMatch(/^127\.0\.0\.1:\d+$/);
    await expect(listTopics(kafka)).rejects.toEqual(refused);
    await kafka.kill();
    await kafka.start();
    expect(kafka.brokers).toBe(brokers);
    expect(await createTopic(kafka, "colors")).toBe("no error");
  });

  it("gives each server its own port before either is started", async () => {
    const other = await reserveKafkaServer();
    expect(other.brokers).not.toBe(kafka.brokers);
    await other.stop();
  });

  it("removes the data of processes that have ended, and keeps that of running ones", async () => {
    // Above the highest process id of any system.
    const leftover = join(tmpdir(), "brand-records-kafka-999999999-killed");
    await mkdir(join(leftover, "data"), { recursive: true });
    const next = await reserveKafkaServer();
    expect(existsSync(leftover)).toBe(false);
    await kafka.start();
    await next.stop();
    expect(await createTopic(kafka, "colors")).toBe("no error");
    await rm(leftover, { recursive: true, force: true });
  });

  it("stops a frozen server, and one that has already stopped, and leaves no data behind", async () => {
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

// The part of https://kafka.apache.org/protocol that these tests need.

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
const TIMEOUT_MS = int32(1_000);

const request = (kafka: KafkaServer, key: number, version: number, ...body: readonly Buffer[]): Promise<Buffer> =>
  requestKafka(Number(kafka.brokers.split(":")[1]), { key, version, body: Buffer.concat(body) });

const listTopics = (kafka: KafkaServer): Promise<Buffer> => request(kafka, 3, 1, int32(-1));

async function createTopic(kafka: KafkaServer, topic: string): Promise<string> {
  const [PARTITIONS, REPLICATION_FACTOR] = [int32(1), int16(1)];
  const response = await request(kafka, 19, 2, only(text(topic), PARTITIONS, REPLICATION_FACTOR, EMPTY, EMPTY), TIMEOUT_MS, FALSE);
  return errorAt(response, 4 + 4 + 2 + Buffer.byteLength(topic));
}

async function write(kafka: KafkaServer, topic: string, value: string): Promise<void> {
  const ACKS_OF_ALL = int16(-1);
  const batch = batchOf(value);
  const response = await request(
    kafka,
    0,
    3,
    NULL_TEXT,
    ACKS_OF_ALL,
    TIMEOUT_MS,
    only(text(topic), only(PARTITION, int32(batch.length), batch)),
  );
  const error = errorAt(response, 4 + 2 + Buffer.byteLength(topic) + 4 + 4);
  if (error !== "no error") throw new Error(error);
}

/** Returns a response that contains the topic's records as they were written. */
function read(kafka: KafkaServer, topic: string): Promise<Buffer> {
  const [CONSUMER, MIN_BYTES, MAX_BYTES, UNCOMMITTED] = [int32(-1), int32(1), int32(10_000), int8(0)];
  const from = only(text(topic), only(PARTITION, int64(0), MAX_BYTES));
  return request(kafka, 1, 4, CONSUMER, TIMEOUT_MS, MIN_BYTES, MAX_BYTES, UNCOMMITTED, from);
}

function errorAt(response: Buffer, position: number): string {
  const code = response.readInt16BE(position);
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
