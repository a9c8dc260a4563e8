import type { GetDeliveryResponse } from "@brand-records/proto/webhook/v1";
import { eventually } from "@brand-records/testkit";
import { startReceivingServer, type ReceivingServer } from "../../test/receiving-server.ts";
import { callContext, present } from "../../test/serve-receivers.ts";
import { recordNothing } from "../../test/serve-receivers.ts";
import { useSending, type MadeReceiver } from "../../test/serve-sending.ts";
import { deliveriesHandlers } from "../rpc/deliveries.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const sending = useSending();
let server: ReceivingServer;
beforeAll(async () => {
  server = await startReceivingServer();
});
afterAll(() => server.stop());

async function finishedDelivery({ id, brand }: MadeReceiver): Promise<GetDeliveryResponse> {
  const handlers = deliveriesHandlers({
    db: sending.db,
    audit: { record: () => recordNothing, erase: async () => [] },
    deadlineMs: 15_000,
    publicUrl: "https://brand-records.example",
    headerWord: "Service",
  });
  const delivery = await eventually(async () => {
    const [row] = await sending.db.query<{ id: string }>("select id from webhook.past_deliveries where receiver_id = $1", [id]);
    return present(row);
  });
  return handlers.getDelivery({ brand_id: brand, delivery_id: delivery.id }, callContext());
}

it("a delivery is shown with the bytes and the headers that its receiver got, for each attempt, but no signature", async () => {
  server.respond = (response) => response.writeHead(server.requests.length === 1 ? 500 : 204).end();
  const receiver = await sending.createReceiver(server.url);
  const [event] = await sending.deliver([receiver]);
  await sending.db.query("update webhook.events set traceparent = $2 where id = $1", [event?.id, TRACEPARENT]);
  sending.start({ retryDelaysSeconds: [0] });
  const { attempts, body } = await finishedDelivery(receiver);
  expect(attempts).toHaveLength(2);
  for (const [n, { request_headers }] of attempts.entries()) {
    const received = present(server.requests[n]);
    expect(Buffer.from(present(body))).toEqual(received.rawBody);
    const { host: _, connection: __, "content-length": ___, ...headers } = received.headers;
    const { "x-service-signature": own, "webhook-signature": standard, ...unsigned } = headers;
    expect([own, standard]).toEqual([expect.stringMatching(/^sha256=/), expect.stringMatching(/^v1,/)]);
    expect(Object.fromEntries(request_headers.map(({ name, value }) => [name.toLowerCase(), value]))).toEqual(unsigned);
    expect(unsigned).toMatchObject({ traceparent: TRACEPARENT, "x-service-attempt": String(n + 1) });
  }
});

it("an attempt that sent nothing has no headers", async () => {
  const receiver = await sending.createReceiver(`${server.url}/unsendable`);
  await sending.deliver([receiver]);
  // Stands for a test of a next secret that was withdrawn since.
  await sending.db.query("update webhook.deliveries set sign_with_next = true where receiver_id = $1", [receiver.id]);
  sending.start({ retryDelaysSeconds: [] });
  const { attempts, body } = await finishedDelivery(receiver);
  expect(attempts).toMatchObject([{ outcome: "unsendable", request_headers: [] }]);
  expect(present(body).length).toBeGreaterThan(100);
});
