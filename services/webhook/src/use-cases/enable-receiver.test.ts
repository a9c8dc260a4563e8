import { eventually } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { useSending } from "../../test/serve-sending.ts";
import { disableReceiver, enableReceiver } from "./enable-receiver.ts";

const sending = useSending();
let server: ReceivingServer;
beforeEach(async () => {
  server = await startReceivingServer((response) => response.writeHead(500).end("Reyes, Ana: unknown"));
});
afterEach(() => server.stop());

it("drops with a held delivery what its receiver answered, and nothing of another receiver", async () => {
  const [receiver, other] = [await sending.createReceiver(server.url), await sending.createReceiver(server.url)];
  const attempts = () => sending.db.query<{ rows: number }>("select count(*)::int as rows from webhook.attempts");
  const sender = sending.start({ retryDelaysSeconds: [3_600] });
  await sending.deliver([receiver, other], 3);
  await eventually(async () => expect(await attempts()).toEqual([{ rows: 6 }]));
  await sender.stop();
  const key = { brandId: receiver.brand, receiverId: receiver.id };
  await disableReceiver(sending.db, key);
  await enableReceiver(sending.db, key, "drop", { chunkRows: 2 });
  expect(await attempts()).toEqual([{ rows: 3 }]);
  expect(await sending.db.query("select from webhook.deliveries where receiver_id = $1", [receiver.id])).toEqual([]);
  expect(await sending.db.query("select from webhook.deliveries where receiver_id = $1", [other.id])).toHaveLength(3);
});
