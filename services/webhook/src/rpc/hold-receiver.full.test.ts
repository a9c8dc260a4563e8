import { describeHolding } from "../../test/describe-holding.ts";
import { newBrand, serveReceivers } from "../../test/serve-receivers.ts";
import { WAITING_COUNTED_MAX } from "../storage/receivers.ts";

describeHolding({ chunkRows: 10_000 });

it("counts pending deliveries up to a bound, so that a list returns in time", async () => {
  const served = await serveReceivers();
  try {
    const receiver = await served.create(newBrand());
    for (let added = 0; added < WAITING_COUNTED_MAX; added += 20_000) await served.addDeliveries(receiver, 20_000);
    await served.addDeliveries(receiver, 1);
    expect(await served.get(receiver)).toMatchObject({ waiting: WAITING_COUNTED_MAX });
    await served.db.query("delete from webhook.deliveries where id in (select id from webhook.deliveries where receiver_id = $1 limit 2)", [
      receiver.id,
    ]);
    expect(await served.get(receiver)).toMatchObject({ waiting: WAITING_COUNTED_MAX - 1 });
  } finally {
    await served.stop();
  }
});
