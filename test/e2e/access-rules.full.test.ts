import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openPool, type Database } from "@brand-records/postgres";
import { freePort } from "@brand-records/postgres/embedded";
import { forgetBrand, openRedis } from "@brand-records/redis";
import { OperatorServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc } from "@brand-records/rpc";
import {
  CertificateAuthority,
  eventually,
  sendRedisCommand,
  startProcess,
  startRedisServer,
  startSecuredKafkaServer,
  type KafkaServer,
  type RedisServer,
} from "@brand-records/testkit";
import { Redis } from "ioredis";
import { Kafka, logLevel, type KafkaConfig } from "kafkajs";
import { metricsOf, readinessOf } from "../admin-port.ts";
import { documentedKafkaRules, documentedRedisUsers } from "../documented-access-rules.ts";
import { startReceivers, type ReceiverServer } from "../receivers.ts";
import { seedBrand } from "../seed-brand.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";
import { scriptOf } from "../program-script.ts";

/** One promise: over TLS, with the logins and access rules of docs/security.md, each process does its work and no login does more. */

const TOPIC = "brand.events";
const DEAD = `${TOPIC}.dead`;
const PASSWORDS = { records: "r-hunter2+/", webhook: "w:hunter2%", stranger: "s-hunter2", gateway: "g-hunter2/+", accounts: "a-hunter2@:" };
const RECEIVER_SECRET_KEYS = `1:${Buffer.alloc(32, 7).toString("base64")}`;
type Login = keyof typeof PASSWORDS;

let folder: string;
let ours: CertificateAuthority;
let theirs: CertificateAuthority;
let kafka: KafkaServer;
let redis: RedisServer;
let redisPort: number;
let stack: Stack;
let brand: TestBrand;
let db: Database;
let receiver: ReceiverServer;

/** Writes a secret where a setting `NAME_FILE` finds it. */
function secretFile(name: string, value: string): string {
  const path = join(folder, name);
  writeFileSync(path, `${value}\n`, { mode: 0o600 });
  return path;
}

/** Settings of a process that reads its password from a file. */
const kafkaEnv = (login: "records" | "webhook", mechanism: string, password = PASSWORDS[login]): Record<string, string> => ({
  KAFKA_TOPIC: TOPIC,
  KAFKA_PARTITIONS: "2",
  KAFKA_TLS: "true",
  KAFKA_TLS_CA: ours.ca,
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: login,
  KAFKA_SASL_PASSWORD_FILE: secretFile(`kafka-${login}`, password),
});

const redisUrlOf = (login: "gateway" | "accounts"): string =>
  `rediss://${login}:${encodeURIComponent(PASSWORDS[login])}@127.0.0.1:${redisPort}`;
const redisEnv = (login: "gateway" | "accounts"): Record<string, string> => ({
  REDIS_URL_FILE: secretFile(`redis-${login}`, redisUrlOf(login)),
  REDIS_TLS_CA: ours.ca,
});

/** A client with a login's rights; without a login, one whom nothing is refused. */
function kafkaAs(login?: Login): Kafka {
  const options: KafkaConfig = {
    brokers: [kafka.internalBrokers],
    logLevel: logLevel.NOTHING,
    // A handshake of TLS may take a busy machine longer than the second of the default.
    connectionTimeout: 10_000,
    retry: { retries: 2, initialRetryTime: 50 },
  };
  if (login === undefined) return new Kafka(options);
  const sasl = { mechanism: "scram-sha-512", username: login, password: PASSWORDS[login] } as const;
  return new Kafka({ ...options, brokers: [kafka.brokers], ssl: { ca: [ours.pem()] }, sasl });
}

/** kafkajs' enums cannot be imported from an ES module; these are the numbers of Kafka's protocol. */
const RESOURCES = { topic: 2, group: 3 };
const OPERATIONS: Readonly<Record<string, number>> = { Read: 3, Write: 4, Create: 5, Delete: 6, Describe: 8, DescribeConfigs: 10 };
const [LITERAL, PREFIXED, ALLOW] = [3, 4, 3];

async function setDocumentedRules(): Promise<void> {
  const admin = kafkaAs().admin();
  await admin.connect();
  const acl = documentedKafkaRules().map(({ principal, operation, resource, name, isPrefix }) => ({
    principal,
    operation: OPERATIONS[operation] ?? Number.NaN,
    resourceType: RESOURCES[resource],
    resourceName: name,
    resourcePatternType: isPrefix ? PREFIXED : LITERAL,
    permissionType: ALLOW,
    host: "*",
  }));
  // Every login may use this group, so that only the rules of a topic can keep one from reading it.
  for (const login of Object.keys(PASSWORDS)) {
    const group = { resourceType: RESOURCES.group, resourceName: "tests.", resourcePatternType: PREFIXED };
    acl.push({ principal: `User:${login}`, operation: OPERATIONS["Read"] ?? 0, permissionType: ALLOW, host: "*", ...group });
  }
  await admin.createAcls({ acl });
  await admin.disconnect();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "access-"));
  [ours, theirs] = [new CertificateAuthority(folder, "ours"), new CertificateAuthority(folder, "theirs")];
  const { cert, key, ca } = ours.issue("server", { names: ["IP:127.0.0.1"] });
  const { gateway, accounts, ...logins } = PASSWORDS;
  redisPort = await freePort();
  const users = `${documentedRedisUsers({ gateway, accounts })}user tests on >tests ~* &* +@all\n`;
  [kafka, redis] = await Promise.all([
    startSecuredKafkaServer({ cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8"), passwords: logins }),
    startRedisServer({
      "tls-port": String(redisPort),
      "tls-cert-file": cert,
      "tls-key-file": key,
      "tls-ca-cert-file": ca,
      "tls-auth-clients": "no",
      aclfile: secretFile("users.acl", users.trim()),
    }),
  ]);
  await setDocumentedRules();
  receiver = await startReceivers();
  stack = await startStack({
    kafkaBrokers: kafka.brokers,
    envOf: {
      accounts: redisEnv("accounts"),
      gateway: redisEnv("gateway"),
      records: kafkaEnv("records", "scram-sha-512"),
      webhook: { ...kafkaEnv("webhook", "plain"), RECEIVER_SECRET_KEYS, RECEIVERS_ON_LOOPBACK: "true" },
    },
  });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  brand = await stack.createBrand();
  await seedBrand(stack, brand.id);
});
afterAll(async () => {
  await db?.stop();
  await stack?.stop();
  receiver.stop();
  await Promise.all([kafka?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true });
});

it("delivers events through Kafka", async () => {
  await stack.addReceiver(brand, receiver.url, ["submission.approved"]);
  const approved = await db.query<{ id: string }>(
    `update records.submissions set status = 'approved'
     where brand_id = $1 and id in (select id from records.submissions where brand_id = $1 and status = 'pending' limit 20) returning id`,
    [brand.id],
  );
  expect(approved.length).toBeGreaterThan(0);
  const ids = (): string[] =>
    [...new Set(receiver.requests.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id))].toSorted();
  await eventually(() => expect(ids()).toEqual(approved.map(({ id }) => id).toSorted()), { timeoutMs: 20_000 });
  for (const process of [stack.processes.records, stack.processes.webhook]) {
    await eventually(async () => expect(await readinessOf(process)).toEqual({ status: "ready" }), { timeoutMs: 20_000 });
    expect(process.output()).not.toMatch(/AUTHORIZATION_FAILED|hunter2/);
  }
});

it("lists, replays and removes dead letters, and trims the log", async () => {
  const producer = kafkaAs().producer();
  await producer.connect();
  await producer.send({ topic: TOPIC, messages: [{ key: "a", value: `not an event of ${brand.id}` }] });
  await producer.disconnect();
  const total = async () => (await stack.events.listDeadLetters({ page_size: 10 }, callContext(30_000))).total;
  await eventually(async () => expect(await total()).toBe(1), { timeoutMs: 20_000 });
  expect(await stack.events.replayDeadLetters({}, callContext(30_000))).toEqual({ replayed: 1 });
  await eventually(async () => expect(await total()).toBe(1), { timeoutMs: 20_000 });

  const operator = connectRpc(OperatorServiceService, stack.addresses.webhook);
  try {
    expect((await operator.removeDeadLetters({ brand_id: brand.id }, callContext(60_000))).removed).toBeGreaterThan(0);
    expect(await total()).toBe(0);
    const { up_to } = await operator.trimLog({ up_to: [] }, callContext(30_000));
    await eventually(async () => expect(await operator.trimLog({ up_to }, callContext(30_000))).toMatchObject({ done: true, behind: [] }), {
      timeoutMs: 20_000,
    });
  } finally {
    operator.stop();
  }
});

/** What an outsider may try. Each resolves if it is allowed. */
const ATTEMPTS: Readonly<Record<string, (client: Kafka) => Promise<void>>> = {
  "write brand.events": (client) => write(client, TOPIC),
  "write brand.events.dead": (client) => write(client, DEAD),
  "read brand.events": (client) => read(client, TOPIC),
  "read brand.events.dead": (client) => read(client, DEAD),
  "remove from brand.events": (client) => removeFrom(client, TOPIC),
  "remove from brand.events.dead": (client) => removeFrom(client, DEAD),
  "move webhook's position": (client) =>
    asAdmin(client, (admin) =>
      admin.setOffsets({ groupId: `${TOPIC}.webhook.other`, topic: TOPIC, partitions: [{ partition: 0, offset: "0" }] }),
    ),
  "create another topic": (client) =>
    asAdmin(client, async (admin) => void (await admin.createTopics({ topics: [{ topic: "other", numPartitions: 1 }] }))),
  "change brand.events": (client) =>
    asAdmin(client, async (admin) => {
      await admin.alterConfigs({
        validateOnly: true,
        resources: [{ type: RESOURCES.topic, name: TOPIC, configEntries: [{ name: "retention.ms", value: "1000" }] }],
      });
    }),
  "change rules": (client) =>
    asAdmin(client, async (admin) => {
      const filter = {
        resourceType: RESOURCES.topic,
        resourcePatternType: LITERAL,
        permissionType: ALLOW,
        operation: OPERATIONS["Read"] ?? 0,
      };
      await admin.describeAcls({ ...filter, resourceName: TOPIC, principal: "User:webhook", host: "*" });
    }),
};

async function asAdmin<T>(client: Kafka, work: (admin: ReturnType<Kafka["admin"]>) => Promise<T>): Promise<void> {
  const admin = client.admin();
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function write(client: Kafka, topic: string): Promise<void> {
  const producer = client.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    await producer.send({ topic, messages: [{ key: "a", value: "forged" }] });
  } finally {
    await producer.disconnect();
  }
}

/** Resolves with the first message. */
async function read(client: Kafka, topic: string): Promise<void> {
  const consumer = client.consumer({
    groupId: `tests.${topic}`,
    allowAutoTopicCreation: false,
    retry: { retries: 2, initialRetryTime: 50, restartOnFailure: async () => false },
  });
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => {});
  consumer.on(consumer.events.CRASH, ({ payload }) => first.reject(payload.error));
  await consumer.connect();
  try {
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({ eachMessage: async () => first.resolve() });
    await first.promise;
  } finally {
    await consumer.disconnect();
  }
}

const removeFrom = (client: Kafka, topic: string): Promise<void> =>
  asAdmin(client, async (admin) => {
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "0" }] });
  });

/** @returns "allowed", or the brokers' word for a refusal */
async function outcomeOf(attempt: Promise<void>): Promise<string> {
  try {
    await attempt;
    return "allowed";
  } catch (error) {
    if (isRefusal(error)) return "refused";
    throw error;
  }
}

type Refused = Error & { type?: string; errors?: unknown[]; partitions?: { error: unknown }[] };

const isRefusal = (error: unknown): boolean => {
  const { name, type, cause, partitions = [], errors = [] } = error as Refused;
  // kafkajs drops why it finds no coordinator. Those who may use the group find it.
  const isOne = name === "KafkaJSGroupCoordinatorNotFound" || (type?.endsWith("_AUTHORIZATION_FAILED") ?? false);
  return (
    isOne || (cause instanceof Error && isRefusal(cause)) || errors.some(isRefusal) || partitions.some((each) => isRefusal(each.error))
  );
};

it("keeps each login of Kafka from everything else, and a third from everything", async () => {
  // Something to read for those who may.
  for (const topic of [TOPIC, DEAD]) await write(kafkaAs(), topic);
  const allowed: Partial<Record<Login, string[]>> = {};
  for (const login of ["records", "webhook", "stranger"] as const) {
    const mayDo = (allowed[login] ??= []);
    for (const [name, attempt] of Object.entries(ATTEMPTS)) if ((await outcomeOf(attempt(kafkaAs(login)))) === "allowed") mayDo.push(name);
  }
  expect(allowed).toEqual({
    records: ["write brand.events"],
    webhook: Object.keys(ATTEMPTS).slice(0, 7),
    stranger: [],
  });
});

it("counts requests and revokes keys through Redis", async () => {
  const { key, keyId, id, owner } = await stack.createBrand();
  const admin = new Redis(redis.url, { username: "tests", password: "tests" });
  try {
    expect((await stack.get("/api/v1/campaigns", key)).status).toBe(200);
    expect((await admin.keys(`*{${id}}`)).toSorted()).toEqual([`epoch:{${id}}`, `rate:{${id}}`]);
    const epoch = Number(await admin.get(`epoch:{${id}}`));
    await stack.accounts.revokeKey({ brand_id: id, key_id: keyId, revoked_by: owner }, callContext());
    expect(Number(await admin.get(`epoch:{${id}}`))).toBeGreaterThan(epoch);
    expect((await stack.get("/api/v1/campaigns", key)).status).toBe(401);
    const accounts = openRedis(redisUrlOf("accounts"), { tlsCa: ours.pem(), commandTimeoutMs: 5_000 });
    await accounts.firstContact;
    try {
      await forgetBrand(accounts, id);
    } finally {
      await accounts.stop();
    }
    expect(await admin.keys(`*{${id}}`)).toEqual([]);
  } finally {
    admin.disconnect();
  }
  const metrics = await metricsOf(stack.gateways[0].process);
  expect(metrics).toMatch(/^rate_limiter_redis_up\{.*\} 1$/m);
  // Redis refused nothing that the gateway's scripts do.
  expect(metrics).not.toMatch(/^rate_limiter_(fallback_decisions_total|redis_error_replies_total)\{/m);
  for (const process of [stack.gateways[0].process, stack.processes.accounts]) expect(process.output()).not.toMatch(/NOPERM|hunter2/);
});

it("keeps each login of Redis from everything else", async () => {
  const commands = [
    ["GET", "epoch:{a}"],
    ["LPUSH", "rate:{a}", "1"],
    ["DEL", "epoch:{a}"],
    ["SET", "session:{a}", "1"],
    ["GET", "session:{a}"],
    ["KEYS", "*"],
    ["FLUSHALL"],
    ["CONFIG", "GET", "*"],
    ["ACL", "LIST"],
    ["EVAL", "return redis.call('KEYS', '*')", "0"],
    ["EVAL", "return redis.call('SET', 'session:{a}', '1')", "0"],
    ["SUBSCRIBE", "events"],
  ];
  const allowed: Record<string, string[]> = {};
  for (const login of ["gateway", "accounts"] as const) {
    const client = new Redis(redisUrlOf(login), { enableReadyCheck: false, tls: { ca: ours.pem() } });
    for (const [command = "", ...parameters] of commands) {
      const outcome = await client.call(command, ...parameters).then(
        () => "allowed",
        (error: Error) => error.message,
      );
      if (outcome === "allowed") (allowed[login] ??= []).push(`${command} ${parameters[0]}`);
      else expect(outcome).toMatch(/^(NOPERM|ERR The user executing the script can't)/);
    }
    client.disconnect();
  }
  expect(allowed).toEqual({ gateway: ["GET epoch:{a}", "LPUSH rate:{a}"], accounts: ["GET epoch:{a}", "DEL epoch:{a}"] });
  await expect(sendRedisCommand(redis.url, "GET epoch:{a}")).rejects.toThrow("NOAUTH");
});

it("a password that Kafka refuses ends what runs after a restore of webhook with 78, and names the setting", async () => {
  const program = scriptOf("webhook").replace("bundle/main", "after-restore");
  const env = {
    DATABASE_URL: stack.databaseUrl,
    ACCOUNTS_ADDRESS: stack.addresses.accounts,
    RECEIVER_SECRET_KEYS,
    KAFKA_BROKERS: kafka.brokers,
    ...kafkaEnv("webhook", "plain", "x-hunter2"),
  };
  const args = [program, "--since", "2026-11-23T06:00:00Z"];
  await expect(promisify(execFile)(process.execPath, args, { env })).rejects.toMatchObject({
    code: 78,
    stderr: expect.stringMatching(/^Invalid settings:\n {2}the broker refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD/),
  });
});

it.each<[string, () => Record<string, string>, RegExp]>([
  ["the wrong password", () => kafkaEnv("webhook", "plain", "x-hunter2"), /KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD/],
  ["the wrong password, by SCRAM", () => kafkaEnv("webhook", "scram-sha-512", "x-hunter2"), /KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD/],
  ["a mechanism that the brokers lack", () => kafkaEnv("webhook", "scram-sha-256"), /does not offer KAFKA_SASL_MECHANISM/],
  ["another authority", () => ({ ...kafkaEnv("webhook", "plain"), KAFKA_TLS_CA: theirs.ca }), /not of the authorities in KAFKA_TLS_CA/],
  [
    "another name",
    () => ({ ...kafkaEnv("webhook", "plain"), KAFKA_BROKERS: kafka.brokers.replace("127.0.0.1", "localhost") }),
    /has another name than KAFKA_BROKERS/,
  ],
  ["no TLS", () => ({ ...kafkaEnv("webhook", "plain"), KAFKA_TLS: "false" }), /may expect TLS \(KAFKA_TLS\)/],
  ["no login", () => ({ KAFKA_TOPIC: TOPIC, KAFKA_TLS: "true", KAFKA_TLS_CA: ours.ca }), /or a login \(KAFKA_SASL_MECHANISM\)/],
  ["TLS where there is none", () => ({ ...kafkaEnv("webhook", "plain"), KAFKA_BROKERS: kafka.internalBrokers }), /does not speak TLS/],
])("names the setting, and no secret, in the log of a process with %s", async (_, env, reason) => {
  const webhook = await startProcess({
    name: "webhook",
    script: scriptOf("webhook"),
    env: {
      KAFKA_BROKERS: kafka.brokers,
      DATABASE_URL: stack.databaseUrl,
      ACCOUNTS_ADDRESS: stack.addresses.accounts,
      RECEIVER_SECRET_KEYS,
      STOP_GRACE_MS: "0",
      LOG_LEVEL: "trace",
      ...env(),
    },
  });
  try {
    const isRefused = (line: string): boolean => line.includes('"event log unavailable"') && reason.test(line);
    await eventually(() => expect(webhook.output().split("\n").some(isRefused)).toBe(true), { timeoutMs: 20_000 });
    expect(await readinessOf(webhook)).toMatchObject({ degraded: ["event log"] });
  } finally {
    await webhook.kill();
  }
  expect(webhook.output()).not.toContain("hunter2");
  expect(webhook.output()).not.toContain(Buffer.from("hunter2").toString("base64").slice(0, -4));
});
