import { newBrand, useReceivers } from "../../test/serve-receivers.ts";
import { WAITING_COUNTED_MAX } from "../storage/receivers.ts";

const served = useReceivers();

it("counts pending deliveries up to a bound, so that a list returns in time", async () => {
  const receiver = await served.create(newBrand());
  for (let added = 0; added < WAITING_COUNTED_MAX; added += 20_000) await served.addDeliveries(receiver, 20_000);
  await served.addDeliveries(receiver, 1);
  expect(await served.get(receiver)).toMatchObject({ waiting: WAITING_COUNTED_MAX });
  await served.db.query("delete from webhook.deliveries where id in (select id from webhook.deliveries where receiver_id = $1 limit 2)", [
    receiver.id,
  ]);
  expect(await served.get(receiver)).toMatchObject({ waiting: WAITING_COUNTED_MAX - 1 });
});
