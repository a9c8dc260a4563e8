import { randomBytes } from "node:crypto";
import {
  createDatabase,
  eventually,
  startProcess,
  startRedisServer,
  type RedisServer,
  type ServiceProcess,
  type TestDatabase,
} from "@brand-records/testkit";
import { scriptOf } from "../program-script.ts";

/** One promise: no process writes a wrong password of REDIS_URL anywhere. */

const PASSWORD = "hünter2 with@special/characters:%";
const IN_URL = encodeURIComponent(PASSWORD);

let redis: RedisServer;
let database: TestDatabase;
beforeAll(async () => {
  [redis, database] = await Promise.all([startRedisServer({ requirepass: "the right one" }), createDatabase("empty")]);
});
afterAll(() => Promise.all([redis.stop(), database.drop()]));

/** The forms in which a log could contain the password. */
const forms = [
  PASSWORD,
  IN_URL,
  JSON.stringify(PASSWORD).slice(1, -1),
  Buffer.from(PASSWORD).toString("base64"),
  Buffer.from(PASSWORD).join(","),
  // The first word, in case only the rest is escaped.
  "nter2",
];

const common = { LOG_LEVEL: "trace", STOP_GRACE_MS: "0" };
const unreachable = "127.0.0.1:1";

it.each([
  [
    "gateway" as const,
    () => ({ PORT: "0", HOST: "127.0.0.1", ACCOUNTS_ADDRESS: unreachable, PLANS_ADDRESS: unreachable, RECORDS_ADDRESS: unreachable }),
  ],
  ["accounts" as const, () => ({ RPC_PORT: "0", DATABASE_URL: database.url, KEY_PEPPERS: `1:${randomBytes(32).toString("base64")}` })],
])("%s logs that Redis refuses its password, and never the password", async (name, env) => {
  for (const credentials of [`:${IN_URL}`, `default:${IN_URL}`]) {
    const redisUrl = redis.url.replace("//", `//${credentials}@`);
    const service: ServiceProcess = await startProcess({
      name,
      script: scriptOf(name),
      env: { ...common, ...env(), REDIS_URL: redisUrl },
    });
    try {
      await eventually(() => expect(service.output()).toContain("WRONGPASS"));
    } finally {
      await service.kill();
    }
    for (const form of forms) expect(service.output()).not.toContain(form);
  }
});
