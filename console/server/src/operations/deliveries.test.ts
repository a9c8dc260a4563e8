import type { Delivery } from "@brand-records/proto/webhook/v1";
import { newCallContext } from "@brand-records/rpc";
import type { Services } from "../services.ts";
import { listDeliveries, replayDelivery } from "./deliveries.ts";
import type { InBrand } from "./operation.ts";

/** What is asked is done beside a webhook process of release 0.3.0 too, or refused. */

/** A webhook process of release 0.3.0: it ignores later filters. */
const services = {
  deliveries: {
    listDeliveries: async () => ({
      deliveries: [{ id: "dlv_1", state: "delivered", last_outcome: "accepted", last_http_status: 204 } as Delivery],
      next_after_id: null,
      failures_in_a_row: 0,
    }),
  },
} as unknown as Services;

const list = (filters: object) => listDeliveries.run(services, {} as InBrand, { brand_id: "brd_1", receiver_id: "rcv_1", ...filters });

it.each([{ record_id: "po_2" }, { status_class: "5xx" }])("refuses what a process of the last release lists for %j", async (filters) => {
  await expect(list(filters)).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("the service is being updated"),
  });
});

it.each([{}, { status_class: "2xx" }])("shows what it lists for %j", async (filters) => {
  expect((await list(filters)).deliveries).toMatchObject([{ id: "dlv_1" }]);
});

it("sends a delivery that has finished no second time with `pending_only`, which that release ignores", async () => {
  const sent: string[] = [];
  const at = new Date().toISOString();
  const finishedAt: Record<string, string | undefined> = { dlv_done: at, dlv_waits: undefined };
  const deliveries = {
    getDelivery: async ({ delivery_id }: { delivery_id: string }) => ({
      delivery: { id: delivery_id, finished_at: finishedAt[delivery_id] },
    }),
    async replayDelivery({ delivery_id }: { delivery_id: string }) {
      sent.push(delivery_id);
      return { delivery: { id: "dlv_new" } };
    },
  };
  const caller = { call: newCallContext(5_000, "test"), brand: { id: "brd_1" }, person: { email: "ana@ulap.example" } };
  const replay = (delivery_id: string, pending_only?: boolean) =>
    replayDelivery.run({ deliveries } as never, caller as unknown as InBrand, {
      brand_id: "brd_1",
      delivery_id,
      ...(pending_only !== undefined && { pending_only }),
    });
  expect(await replay("dlv_done", true)).toMatchObject({ delivery: { id: "dlv_done", finished_at: at } });
  expect(sent).toEqual([]);
  await replay("dlv_waits", true);
  await replay("dlv_done");
  expect(sent).toEqual(["dlv_waits", "dlv_done"]);
});
