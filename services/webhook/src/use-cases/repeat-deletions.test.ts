import { addDelivery } from "../../test/add-delivery.ts";
import { newBrand, useReceivers } from "../../test/serve-receivers.ts";
import { brandsDeletedSince, repeatDeletion } from "./delete-brand.ts";

const served = useReceivers();

it("finds the deleted brands among all, and deletes them with attempts in flight when the backup was taken, and no other", async () => {
  const [departed, other] = [newBrand(), newBrand()];
  const at = new Date().toISOString();
  for (const brandId of [departed, other]) {
    const receiver = await served.create(brandId);
    for (const state of ["sending", "pending", "delivered"] as const) await addDelivery(served.db, receiver, { at, state });
  }
  const asked: string[] = [];
  const deleted = await brandsDeletedSince(served.db, async (brandIds) => {
    asked.push(...brandIds);
    return new Set([departed]);
  });
  expect(deleted).toEqual([departed]);
  expect(asked.toSorted()).toEqual([departed, other].toSorted());

  expect(await repeatDeletion(served.db, departed)).toBeGreaterThan(0);
  const brands = (table: string) => served.db.query<{ brand_id: string }>(`select distinct brand_id from webhook.${table}`);
  for (const table of ["brands", "receivers", "events"]) expect(await brands(table)).toEqual([{ brand_id: other }]);
  const states = await served.db.query("select state from webhook.deliveries order by state");
  expect(states).toEqual([{ state: "pending" }, { state: "sending" }]);
});
