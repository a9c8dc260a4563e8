import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPool, type Database } from "@brand-records/postgres";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, newCallContext } from "@brand-records/rpc";
import { eventually, sendRedisCommand, startDnsServer, startPostgresServer, startRedisServer } from "@brand-records/testkit";
import { runNode, type Ended } from "../command-line.ts";
import { Brands } from "./brands.ts";
import { Fleet, type ProcessType } from "./fleet.ts";
import { CertificateFiles, SecretFiles, type CertificateSet } from "./process-files.ts";
import { isClean, reportRun } from "./report.ts";
import { Traffic } from "./traffic.ts";

/**
 * One promise: each rotation of docs/operations.md fails no request, loses no event and ends no delivery early, and ends the use of what it
 * replaces. Old processes serve on for 20 s beside their replacements, with the old settings, as on Kubernetes when a pod takes its time.
 */

/** A tenth changes a record. Two cores run up to twenty processes meanwhile: a machine of its own serves 100. */
const PER_SECOND = Number(process.env["ROTATIONS_PER_SECOND"] ?? 25);
const PENDING_MAX = 10;
const LEAVE_AFTER_MS = 20_000;
/** When the old processes have ended. */
const RE_ENCRYPTED_MS_MAX = 60_000;
const SETTINGS = { REQUEST_DEADLINE_MS: "25000" };
const PRESENT = process.cwd();
const STORING: readonly ProcessType[] = ["accounts", "records", "plans", "webhook"];
/** Files are read every 10 s. */
const READ_AGAIN_MS_MAX = 60_000;
/** Requests after what was replaced has stopped working. */
const REQUESTS_AFTER = 40;

const newKey = (id: number): string => `${id}:${randomBytes(32).toString("base64")}`;
const [pepper1, pepper2] = [newKey(1), newKey(2)];
const [secretKey1, secretKey2] = [newKey(1), newKey(2)];

const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});
const own = <T>(thing: T, stop: (thing: T) => unknown): T => {
  stops.unshift(() => stop(thing));
  return thing;
};

const folder = own(mkdtempSync(join(tmpdir(), "rotations-")), (path) => rmSync(path, { recursive: true }));
const secrets = new SecretFiles(join(folder, "secrets"));
const certificates = new CertificateFiles(join(folder, "certificates"));
let superuser: Database;
let redisUrl: string;
let fleet: Fleet;
let brands: Brands;
let traffic: Traffic;
/** Sorted by their use. */
let sets: readonly CertificateSet[];
let asLogin: (login: string, password: string) => string;

beforeAll(async () => {
  const postgres = own(await startPostgresServer(), (server) => server.stop());
  asLogin = (username, password) => Object.assign(new URL(postgres.url), { username, password }).href;
  superuser = own(openPool({ url: postgres.url, max: 1, applicationName: "rotations" }), (db) => db.stop());
  for (const type of STORING) await superuser.query(`create role ${type} login password 'first'`);
  await superuser.query(`grant create, temporary on database postgres to ${STORING.join(", ")}`);
  for (const type of STORING) secrets.write(type, "DATABASE_URL", asLogin(type, "first"));
  secrets.write("accounts", "KEY_PEPPERS", pepper1);
  secrets.write("webhook", "RECEIVER_SECRET_KEYS", secretKey1);

  // Gateways have no Redis, so that they cache no key: accounts verifies the key of each request.
  redisUrl = own(await startRedisServer(), (server) => server.stop()).url;
  await sendRedisCommand(redisUrl, "ACL SETUSER accounts on >first ~* &* +@all");
  secrets.write("accounts", "REDIS_URL", redisUrl.replace("//", "//accounts:first@"));

  const [before, after] = [certificates.newAuthority("before"), certificates.newAuthority("after")];
  sets = [
    certificates.issue(before, [before], 10),
    certificates.issue(before, [before, after], 11),
    certificates.issue(after, [before, after], 12),
    certificates.issue(after, [after], 13),
  ];
  certificates.install(setOf(0));

  const addresses = new Map<string, readonly string[]>();
  const dns = own(await startDnsServer((name, type) => (type === "A" ? (addresses.get(name) ?? []) : [])), (server) => server.stop());
  const options = {
    databaseUrl: postgres.url,
    dnsPort: dns.port,
    addresses,
    settings: SETTINGS,
    secretsOf: (type: ProcessType) => secrets.settingsOf(type),
    tlsOf: (type: ProcessType | "operator") => certificates.settingsOf(type),
  };
  fleet = own(await Fleet.start(options, PRESENT), (each) => each.stop());
  brands = own(await Brands.create(fleet, postgres.url), (each) => each.stop());
  await brands.signIn(fleet);
  traffic = own(new Traffic(fleet, brands, PER_SECOND, PENDING_MAX), (each) => each.stop());
}, 180_000);

const setOf = (n: number): CertificateSet => sets[n] as CertificateSet;

/** Puts a set of certificates in place. Files are read every 10 s, so other rotations may follow meanwhile. */
function replaceCertificates(n: number): void {
  traffic.phase = `certificates ${n}`;
  certificates.install(setOf(n));
}

/** Resolves when every process has loaded the certificates that are in place. */
const certificatesLoaded = (): Promise<void> =>
  eventually(
    async () => {
      for (const [name, text] of await fleet.metrics()) {
        const [, loaded] = /^tls_certificate_expiry_timestamp_seconds\{.*certificate="leaf".*\} (\S+)$/m.exec(text) ?? [];
        const expiry = certificates.expiryOf(name.split(" ")[0] as ProcessType);
        if (Number(loaded) !== expiry) throw new Error(`${name} has a certificate until ${loaded}, not ${expiry}`);
      }
    },
    { timeoutMs: READ_AGAIN_MS_MAX },
  );

const keysByPepper = (): Promise<object[]> =>
  superuser.query("select pepper_version, count(*) as keys from accounts.keys where revoked_at is null group by 1 order by 1");

const receiversByKey = (): Promise<object[]> =>
  superuser.query("select secret_key_id, count(*) as receivers from webhook.receivers group by 1 order by 1");

/** Runs re-encrypt.js. Resolves to what it printed, with its exit code. */
const reEncrypt = (): Promise<Ended> =>
  runNode("services/webhook/dist/re-encrypt.js", [], { env: { ACCOUNTS_ADDRESS: "localhost:7000", ...secrets.settingsOf("webhook") } });

/**
 * Replaces the pepper and the key of receivers' secrets: add one of each, replace the API keys under the old pepper, re-encrypt, remove the
 * old ones.
 */
async function rotateKeys(): Promise<void> {
  traffic.phase = "keys";
  secrets.write("webhook", "RECEIVER_SECRET_KEYS", secretKey2);
  await expect(fleet.roll("webhook", PRESENT)).rejects.toThrow(/exit code 78[^]*RECEIVER_SECRET_KEYS: key 1 is missing/);
  secrets.write("webhook", "RECEIVER_SECRET_KEYS", `${secretKey2},${secretKey1}`);
  secrets.write("accounts", "KEY_PEPPERS", `${pepper2},${pepper1}`);
  const [tries] = await Promise.all([
    fleet.roll("webhook", PRESENT, LEAVE_AFTER_MS).then(async () => [await reEncrypt()]),
    fleet.roll("accounts", PRESENT, LEAVE_AFTER_MS),
  ]);

  // The old processes verify these keys and sign for this receiver, too.
  const first = await brands.replaceKeys(fleet);
  await brands.add(fleet);
  expect(await keysByPepper()).toEqual([{ pepper_version: 1, keys: first.length + brands.all.length }]);
  await eventually(
    async () => {
      if (tries.at(-1)?.code !== 0) tries.push(await reEncrypt());
      expect(tries.at(-1)?.code).toBe(0);
    },
    { timeoutMs: RE_ENCRYPTED_MS_MAX },
  );
  expect(JSON.parse(tries.at(-1)?.stdout ?? "")).toMatchObject({ secrets: brands.all.length, still_in_use: [] });
  // None before the old processes have ended.
  expect(tries[0]).toMatchObject({ code: 78, stderr: expect.stringContaining("lacks key 2") });

  await fleet.ended();
  const second = await brands.replaceKeys(fleet);
  expect(await keysByPepper()).toEqual([
    { pepper_version: 1, keys: first.length + second.length },
    { pepper_version: 2, keys: brands.all.length },
  ]);
  // Those under way have the old keys.
  await traffic.drained();
  secrets.write("accounts", "KEY_PEPPERS", pepper2);
  await expect(fleet.roll("accounts", PRESENT)).rejects.toThrow(/exit code 78[^]*KEY_PEPPERS: pepper 1 is missing/);
  for (const old of [first, second]) await brands.revoke(fleet, old);
  secrets.write("webhook", "RECEIVER_SECRET_KEYS", secretKey2);
  await Promise.all([fleet.roll("accounts", PRESENT, LEAVE_AFTER_MS), fleet.roll("webhook", PRESENT, LEAVE_AFTER_MS)]);
  expect(await receiversByKey()).toEqual([{ secret_key_id: 2, receivers: brands.all.length }]);
}

/** Deliveries that ended without being accepted, and attempts that were not accepted. */
const endedEarly = (): Promise<object[]> =>
  superuser.query(
    `select state as what, count(*) from webhook.past_deliveries where state <> 'delivered' group by 1
      union all
     select outcome, count(*)
       from (select outcome from webhook.attempts union all select outcome from webhook.past_deliveries) a
      where outcome <> 'accepted' group by 1`,
  );

/** Sessions by login, of those that services have. */
const sessions = (): Promise<{ login: string; application: string; pid: number }[]> =>
  superuser.query(
    `select usename as login, application_name as application, pid from pg_stat_activity
      where usename = any($1) order by login, application, pid`,
    [STORING.flatMap((type) => [type, `${type}_2`])],
  );

/**
 * Replaces the logins of Postgres, each by a second one that acts as the first, and a password of Redis by a second one of the same user: a
 * rolling restart, and an end to the first.
 */
async function rotateLogins(): Promise<void> {
  traffic.phase = "logins";
  await sendRedisCommand(redisUrl, "ACL SETUSER accounts >second");
  secrets.write("accounts", "REDIS_URL", redisUrl.replace("//", "//accounts:second@"));
  for (const type of STORING) {
    await superuser.query(`create role ${type}_2 login password 'second' in role ${type}`);
    await superuser.query(`alter role ${type}_2 set role ${type}`);
    secrets.write(type, "DATABASE_URL", asLogin(`${type}_2`, "second"));
    await fleet.roll(type, PRESENT, LEAVE_AFTER_MS);
  }
  await fleet.ended();
  await eventually(async () => expect((await sessions()).filter(({ login }) => !login.endsWith("_2"))).toEqual([]));
  expect(new Set((await sessions()).map(({ login }) => login))).toEqual(new Set(STORING.map((type) => `${type}_2`)));
  for (const type of STORING) await superuser.query(`alter role ${type} nologin`);
  await sendRedisCommand(redisUrl, "ACL SETUSER accounts <first");
  await expect(sendRedisCommand(redisUrl, "AUTH accounts first")).rejects.toThrow("WRONGPASS");
  await sendRedisCommand(redisUrl, "CLIENT KILL USER accounts");
  await eventually(async () => {
    // Each process has one connection.
    expect((await sendRedisCommand(redisUrl, "CLIENT LIST")).match(/ user=accounts /g)).toHaveLength(2);
  });
}

/** Whether accounts serves an operator with the certificate of a set. */
async function isServed({ leaves }: CertificateSet): Promise<boolean> {
  const leaf = leaves.get("operator");
  const config = { ...certificates.settingsOf("operator"), RPC_TLS_CERT: leaf?.cert, RPC_TLS_KEY: leaf?.key };
  const client = connectRpc(AccountsServiceService, fleet.target("accounts"), { config });
  const { id = "" } = brands.all[0] ?? {};
  const served = await client.getBrand({ brand_id: id }, newCallContext(20_000, "rotations")).then(
    () => true,
    (error: { kind?: string }) => {
      expect(error.kind).toBe("unavailable");
      return false;
    },
  );
  client.stop();
  return served;
}

it("rotates pepper, receivers' key, certificates with their authority, logins and passwords, without a failed request, a lost event or a wasted attempt, beside old processes that leave late", async () => {
  try {
    replaceCertificates(1);
    await rotateKeys();
    await certificatesLoaded();
    replaceCertificates(2);
    await rotateLogins();
    await certificatesLoaded();
    replaceCertificates(3);
    await certificatesLoaded();
    expect([await isServed(setOf(2)), await isServed(setOf(1))]).toEqual([true, false]);
    traffic.phase = "after";
    const enough = traffic.outcomes.length + REQUESTS_AFTER;
    await eventually(() => expect(traffic.outcomes.length).toBeGreaterThan(enough), { timeoutMs: 30_000 });
    await fleet.ended();
  } finally {
    await traffic.stop();
  }
  const [events, entries] = [await brands.count(), await brands.countEntries()];
  const result = { outcomes: traffic.outcomes, events, entries, badExits: fleet.badExits, logs: fleet.logs() };
  if (!isClean(result)) throw new Error(reportRun("Failures", result));
  expect(await endedEarly()).toEqual([]);
  expect(result.events.changes).toBeGreaterThan(0);
  if (process.env["ROTATIONS_PER_SECOND"] !== undefined) process.stderr.write(`${reportRun("Rotations", result)}\n`);
}, 600_000);
