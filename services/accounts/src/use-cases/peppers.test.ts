import { ConfigError } from "@brand-records/config";
import { AnnouncedKeys, type StartedService } from "@brand-records/service-runtime";
import { openLog } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { pepper, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import type { Pepper } from "../domain/key.ts";
import { announcePeppers, heldPeppers, requirePeppers } from "./peppers.ts";

const [one, two, three] = [pepper(1), pepper(2), pepper(3)];
const log = openLog("accounts", "silent");

const served = servedAccounts(() => ({ peppers: [two, one] }));
let brand: TestBrand;
const started: AnnouncedKeys[] = [];
beforeEach(async () => {
  await served.db.query("truncate accounts.keys, accounts.living_processes");
  brand = await served.createBrand();
});
afterEach(() => Promise.all(started.splice(0).map((each) => each.stop())));

/** Returns the problems that `requirePeppers` reports. Checks that they do not contain a pepper. */
async function problemsOf(peppers: readonly [Pepper, ...Pepper[]], environment: "live" | "test" = "live"): Promise<readonly string[]> {
  try {
    await requirePeppers({ db: served.db, peppers, environment });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    for (const { bytes } of peppers) expect((error as ConfigError).message).not.toContain(bytes.toString("base64").slice(0, 8));
    return (error as ConfigError).problems;
  }
  return [];
}

it("accepts any peppers while there is no key", async () => {
  expect(await problemsOf([three])).toEqual([]);
});

it("names every missing pepper, how many keys need it, and the fix", async () => {
  const older = await served.alsoWith({ peppers: [one] });
  for (const by of [older, older, served]) await by.createKey(brand);
  expect(await problemsOf([three])).toEqual([
    expect.stringMatching(/^KEY_PEPPERS: pepper 1 is missing, .* \(2\) .*put 1:… back/),
    expect.stringMatching(/^KEY_PEPPERS: pepper 2 is missing, .* \(1\) .*put 2:… back/),
  ]);
  expect(await problemsOf([three, two])).toHaveLength(1);
  expect(await problemsOf([three, two, one])).toEqual([]);
});

it("does not count revoked keys, nor those of another environment", async () => {
  const { id } = await served.createKey(brand);
  await served.createKey(brand, { environment: "test" });
  await served.accounts.revokeKey({ key_id: id, brand_id: brand.id, revoked_by: brand.owner });
  expect(await problemsOf([three])).toEqual([]);
  expect(await problemsOf([three], "test")).toHaveLength(1);
});

/** An accounts process knows when a key that it does not find may exist nevertheless. */
describe("keys that a process may miss", () => {
  interface Announced {
    mayMissKeys(): boolean;
    /** Versions, as /readyz and the metric name them. */
    unusable(): readonly number[];
  }

  /** Starts as a process with these peppers does, with a heartbeat every 20 ms. */
  async function announce(...peppers: [Pepper, ...Pepper[]]): Promise<Announced> {
    let unusable: () => readonly number[] = () => [];
    const base: Pick<StartedService, "announceKeys" | "reportUnusableKeys"> = {
      async announceKeys(keys, onRevived) {
        const announced = await AnnouncedKeys.start({ db: served.db, schema: "accounts", keys, log, onRevived, everyMs: 20 });
        started.push(announced);
        return announced;
      },
      reportUnusableKeys: (setting, ids) => {
        expect(setting).toBe("KEY_PEPPERS");
        unusable = ids;
      },
    };
    const mayMissKeys = await announcePeppers(base, { db: served.db, peppers, environment: "live" });
    return { mayMissKeys, unusable: () => unusable() };
  }

  it("misses none as long as the others know of it: they store nothing that it cannot find", async () => {
    const late = await announce(one);
    await served.createKey(brand);
    expect([late.mayMissKeys(), late.unusable()]).toEqual([false, []]);
    expect(await served.db.query("select distinct pepper_version from accounts.keys")).toEqual([{ pepper_version: 1 }]);
  });

  it("may miss those that were stored under a newer pepper while it was frozen, and names that pepper", async () => {
    const late = await announce(one);
    // The others count it as ended, and then it wakes.
    await served.db.transaction(async (sql) => {
      await sql.query("update accounts.living_processes set seen_at = clock_timestamp() - interval '31 s'");
      await sql.query(`insert into accounts.brands (id, name, tier, verified) values ('brd_1', 'x', 'plus', true)`);
      await sql.query(
        `insert into accounts.keys (id, brand_id, environment, name, permissions, hint, pepper_version, key_hash, created_by)
       values ('key_1', 'brd_1', 'live', 'x', '{}', 'x', 2, $1, 'x@y.example')`,
        [Buffer.alloc(32)],
      );
    });
    await eventually(() => expect([late.mayMissKeys(), late.unusable()]).toEqual([true, [2]]));
  });

  it("may miss some while another process has a different pepper under the same version, and names it", async () => {
    const process = await announce(two, one);
    const other = await AnnouncedKeys.start({ db: served.db, schema: "accounts", keys: heldPeppers([pepper(2)]), log });
    await eventually(() => expect([process.mayMissKeys(), process.unusable()]).toEqual([true, [2]]));
    await other.stop();
    await eventually(() => expect([process.mayMissKeys(), process.unusable()]).toEqual([false, []]));
  });

  it("does not start without a pepper that stored keys need, and is not announced", async () => {
    await served.createKey(brand);
    await expect(announce(one)).rejects.toThrow("pepper 2 is missing");
    expect(await served.db.query("select from accounts.living_processes")).toEqual([]);
  });
});
