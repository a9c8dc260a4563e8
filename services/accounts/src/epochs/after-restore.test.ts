import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openMaintenance } from "@brand-records/service";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { eventually } from "@brand-records/testkit";
import { callContext, serveAccounts, type ServedAccounts } from "../../test/serve-accounts.ts";
import { startEpochRepublisher } from "./epoch-republisher.ts";

/** The statements of docs/operations.md, as an operator runs them. */

const page = readFileSync(join(import.meta.dirname, "../../../../docs/operations.md"), "utf8");
const section = /^## After accounts' database was restored\n(.*?)^## /ms.exec(page)?.[1] ?? "";
const [raiseEpochs = "", listKeys = ""] = [...section.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql);

let served: ServedAccounts;
beforeAll(async () => {
  served = await serveAccounts();
});
afterAll(() => served.stop());

it("raises every epoch above the one that was published before the restore, and accounts publishes it", async () => {
  const brands = [await served.createBrand(), await served.createBrand()];
  const published = new Map<string, number>();
  for (const brand of brands) {
    await served.createKey(brand);
    published.set(brand.id, await served.epochOf(brand));
  }
  const before = new Map(published);
  await served.db.query("update accounts.brands set epoch = epoch - 86400000, epoch_changed_at = now() - interval '1 day'");
  await served.db.query(raiseEpochs);
  const publisher = { publish: async (id: string, epoch: number) => (published.set(id, epoch), true) };
  const maintenance = openMaintenance(openLog("accounts", "silent"), openMetrics("accounts"));
  const republisher = startEpochRepublisher(served.db, publisher, maintenance);
  await eventually(() => {
    for (const { id } of brands) expect(published.get(id)).toBeGreaterThan(before.get(id) ?? Number.NaN);
  });
  await republisher.stop();
});

it("lists the keys that work, and none that is revoked", async () => {
  const brand = await served.createBrand();
  const [works, revoked] = [await served.createKey(brand), await served.createKey(brand)];
  await served.accounts.revokeKey({ brand_id: brand.id, key_id: revoked.id, revoked_by: brand.owner }, callContext());
  const listed = await served.db.query<{ brand_id: string; id: string }>(listKeys);
  expect(listed.filter(({ brand_id }) => brand_id === brand.id).map(({ id }) => id)).toEqual([works.id]);
});
