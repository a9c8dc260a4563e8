import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { openPool, type Database } from "@brand-records/postgres";
import type { Logger } from "@brand-records/telemetry";
import { createDatabase, eventually, type TestDatabase } from "@brand-records/testkit";
import { AnnouncedKeys, type AnnounceOptions } from "./announced-keys.ts";
import { heldKey, livingProcesses, newestSharedKey, requireSharedKey } from "./living-processes.ts";

/** Nothing is stored under a key that a living process lacks, and a process knows when this may have happened to it. */

const [one, two] = [heldKey(1, randomBytes(32)), heldKey(2, randomBytes(32))];

let database: TestDatabase;
let db: Database;
const started: AnnouncedKeys[] = [];
const lines: { fields: object; message: string }[] = [];
const append = (fields: object, message: string): void => void lines.push({ fields, message });
const log = { info: append, warn: append, error: append } as unknown as Logger;

beforeAll(async () => {
  database = await createDatabase("living_processes", async (url) => {
    const sql = openPool({ url, applicationName: "test" });
    await sql.query("create schema webhook");
    await sql.query(readFileSync("services/webhook/migrations/0004-living-processes.sql", "utf8"));
    await sql.stop();
  });
  db = openPool({ url: database.url, applicationName: "test" });
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop();
  await db.query("delete from webhook.living_processes");
  lines.length = 0;
});
afterAll(async () => {
  await db.stop();
  await database.drop();
});

async function announce(keys: AnnounceOptions["keys"], options: Partial<AnnounceOptions> = {}): Promise<AnnouncedKeys> {
  const announced = await AnnouncedKeys.start({ db, schema: "webhook", keys, log, ...options });
  started.push(announced);
  return announced;
}

const chosen = (keys: AnnounceOptions["keys"]): Promise<number> => db.transaction((sql) => newestSharedKey(sql, "webhook", keys));
const requireTwo = (): Promise<void> => requireSharedKey(db, "webhook", "KEYS", two);
/** Makes the processes look frozen. */
const lapse = (seconds: number) =>
  db.query("update webhook.living_processes set seen_at = clock_timestamp() - make_interval(secs => $1)", [seconds]);

describe("a key to store under", () => {
  it("is the newest one while no process is announced", async () => {
    expect(await chosen([two, one])).toBe(2);
    await requireTwo();
  });

  it("is the newest that every living process holds", async () => {
    await announce([two, one]);
    const old = await announce([one]);
    expect(await chosen([two, one])).toBe(1);
    await old.stop();
    expect(await chosen([two, one])).toBe(2);
  });

  it("is not one that a living process has with other bytes", async () => {
    await announce([heldKey(2, randomBytes(32)), one]);
    expect(await chosen([two, one])).toBe(1);
  });

  it("is refused as unavailable if the processes have none in common", async () => {
    await announce([one]);
    await expect(chosen([two])).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("may be one that a process lacks which was not seen for 30 s", async () => {
    // One heartbeat follows the start at once, and may come between two statements here.
    await announce([one], { everyMs: 3_600_000 });
    await lapse(29);
    expect(await chosen([two, one])).toBe(1);
    await expect(requireTwo()).rejects.toThrow("lacks key 2");
    await eventually(async () => {
      await lapse(31);
      expect(await chosen([two, one])).toBe(2);
      await requireTwo();
    });
  });

  it("keeps a process that lacks it from being announced until the transaction ends", async () => {
    const starting = await db.transaction(async (sql) => {
      expect(await newestSharedKey(sql, "webhook", [two, one])).toBe(2);
      const announcing = announce([one]);
      await eventually(async () => {
        // Other tests' sessions wait for locks of their own databases.
        const waiting = `select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        expect(await db.query(waiting)).toHaveLength(1);
      });
      expect(await livingProcesses(db, "webhook")).toEqual([]);
      return { announcing };
    });
    await starting.announcing;
    expect(await chosen([two, one])).toBe(1);
  });
});

it("names each process that lacks a key, when it was seen and what to do, and no key", async () => {
  await announce([two, one]);
  await requireTwo();
  await announce([one]);
  const error = await requireTwo().catch((thrown: unknown) => thrown as Error);
  expect(error).toMatchObject({
    name: "ConfigError",
    problems: [expect.stringMatching(/^KEYS: .+ \(process \d+\) lacks key 2; .*run this again/)],
  });
  expect((error as Error).message).not.toContain(one.fingerprint);
});

describe("a process", () => {
  it("is announced before it goes on, is seen again and again, and is removed when it stops", async () => {
    const announced = await announce([two, one], { everyMs: 20 });
    expect((await livingProcesses(db, "webhook")).map(({ keys }) => keys)).toEqual([[two, one]]);
    await lapse(10);
    await eventually(async () => expect((await livingProcesses(db, "webhook"))[0]?.seenSecondsAgo).toBeLessThan(10));
    expect(announced.isCurrent()).toBe(true);
    await announced.stop();
    expect(await db.query("select from webhook.living_processes")).toEqual([]);
  });

  it("removes those that were not seen for 30 s", async () => {
    await db.query("insert into webhook.living_processes values ('gone', 'gone', '[]', clock_timestamp() - interval '31 s')");
    await announce([one], { everyMs: 20 });
    await eventually(async () => expect(await db.query("select id from webhook.living_processes where id = 'gone'")).toEqual([]));
  });

  it("is not current when 20 s have passed since its last heartbeat", async () => {
    let now = 1_000;
    const announced = await announce([one], { everyMs: 3_600_000, clock: () => now });
    now += 19_999;
    expect(announced.isCurrent()).toBe(true);
    now += 1;
    expect(announced.isCurrent()).toBe(false);
  });

  it("that counted as ended is announced again, and is current only when it has looked for what it cannot read", async () => {
    let now = 0;
    let looks = 0;
    const looked = Promise.withResolvers<void>();
    const onRevived = async (): Promise<boolean> => {
      looks += 1;
      // The first time the database is away.
      if (looks === 1) throw new Error("no database");
      await looked.promise;
      // The second time there is something, the third time no longer.
      return looks > 2;
    };
    const announced = await announce([one], { everyMs: 20, clock: () => now, onRevived });
    // Frozen for a minute.
    now += 60_000;
    expect(announced.isCurrent()).toBe(false);
    await lapse(60);
    await eventually(() => expect(looks).toBe(2));
    expect(await livingProcesses(db, "webhook")).toHaveLength(1);
    // A heartbeat that began before the row lapsed counts for 20 s from its beginning.
    now += 60_000;
    expect(announced.isCurrent()).toBe(false);
    looked.resolve();
    await eventually(() => expect(announced.isCurrent()).toBe(true));
    await eventually(() => expect(looks).toBe(3));
  });

  it("knows while another has other bytes under an id of its keys, and logs which, once", async () => {
    const announced = await announce([two, one], { everyMs: 20 });
    const other = await announce([heldKey(2, randomBytes(32))], { everyMs: 20 });
    await eventually(() => expect([announced.conflictingIds(), other.conflictingIds()]).toEqual([[2], [2]]));
    await other.stop();
    await eventually(() => expect(announced.conflictingIds()).toEqual([]));
    expect(lines).toEqual(
      Array.from({ length: 2 }, () => ({
        fields: { key_id: 2, process: expect.stringContaining(`(process ${process.pid})`) },
        message: "another process has a different key under this id",
      })),
    );
  });

  it("knows while it cannot be announced, and logs it once", async () => {
    const announced = await announce([one], { everyMs: 20 });
    await db.query("alter table webhook.living_processes rename to away");
    await eventually(() => expect(announced.isFailing()).toBe(true));
    await db.query("alter table webhook.away rename to living_processes");
    await eventually(() => expect(announced.isFailing()).toBe(false));
    expect(lines.map(({ message }) => message)).toEqual(["keys cannot be announced", "keys are announced again"]);
  });
});
