import type { Sql } from "@brand-records/postgres";
import { newId } from "@brand-records/ids";
import { servedAccounts, type TestBrand, untilWaiting } from "../../test/serve-accounts.ts";
import { deleteKeysOf } from "./brand-deletions.ts";
import { eraseFromKeys } from "./erasures.ts";
import { writeLastUses } from "./keys.ts";

const served = servedAccounts();

/** Makes two keys of a brand, which the table and its index by brand have in descending order of id. @returns the ids, ascending */
async function twoKeys(brand: TestBrand): Promise<readonly [string, string]> {
  const [first = "", second = ""] = [newId("key"), newId("key")].toSorted();
  for (const id of [second, first]) {
    const { id: made } = await served.createKey(brand);
    const older = id === first ? "1 hour" : "0";
    await served.db.query("update accounts.keys set id = $2, created_at = created_at - $3::interval where id = $1", [made, id, older]);
  }
  return [first, second];
}

const lock = (sql: Sql, id: string) => sql.query("select from accounts.keys where id = $1 for update", [id]);

it.each([
  ["a brand's deletion", (sql: Sql, { id }: TestBrand) => deleteKeysOf(sql, id)],
  ["an erasure", (sql: Sql, { owner }: TestBrand) => eraseFromKeys(sql, owner, "erased_1")],
  ["the time of last uses", (sql: Sql, _: TestBrand, ids: readonly string[]) => writeLastUses(sql, new Map(ids.map((id) => [id, 1])))],
])("%s locks keys in ascending order of id, as all do, so that no two wait for each other", async (_, change) => {
  const brand = await served.createBrand();
  const ids = await twoKeys(brand);
  const { changed } = await served.db.transaction(async (sql) => {
    await lock(sql, ids[0]);
    const changing = change(served.db, brand, ids.toReversed());
    await untilWaiting(served.db);
    await lock(sql, ids[1]);
    return { changed: changing };
  });
  await changed;
});
