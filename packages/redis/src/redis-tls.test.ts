import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@brand-records/postgres/embedded";
import { CertificateAuthority, startRedisServer, type RedisServer } from "@brand-records/testkit";
import { openRedis } from "./open-redis.ts";

let folder: string;
let ours: CertificateAuthority;
let theirs: CertificateAuthority;
let port: number;
let server: RedisServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "redis-tls-"));
  [ours, theirs] = [new CertificateAuthority(folder, "ours"), new CertificateAuthority(folder, "theirs")];
  const { cert, key, ca } = ours.issue("redis", { names: ["IP:127.0.0.1"] });
  port = await freePort();
  server = await startRedisServer({
    "tls-port": String(port),
    "tls-cert-file": cert,
    "tls-key-file": key,
    "tls-ca-cert-file": ca,
    "tls-auth-clients": "no",
  });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** @returns the reply, or why Redis is down */
async function pingOver(url: string, tlsCa?: string): Promise<unknown> {
  let cause: unknown;
  const redis = openRedis(url, { tlsCa, commandTimeoutMs: 20_000, onStateChange: (_, why) => void (cause = why) });
  try {
    await redis.firstContact;
    return redis.isUp ? await redis.run("key", (client) => client.ping()) : (cause as Error).message;
  } finally {
    await redis.stop();
  }
}

it.each([
  ["a certificate of the given authority", () => `rediss://127.0.0.1:${port}`, () => ours, "PONG"],
  ["one of another authority", () => `rediss://127.0.0.1:${port}`, () => theirs, /unable to (verify|get)|self-signed/],
  ["one for another name", () => `rediss://localhost:${port}`, () => ours, /does not match certificate's altnames/],
] as const)("meets %s", async (_, url, authority, expected) => {
  expect(await pingOver(url(), authority().pem())).toEqual(typeof expected === "string" ? expected : expect.stringMatching(expected));
});

it("trusts the authorities of Node only, without one given", async () => {
  expect(await pingOver(`rediss://127.0.0.1:${port}`)).toMatch(/unable to (verify|get)|self-signed/);
});
