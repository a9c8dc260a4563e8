import type { Delivery } from "@brand-records/proto/webhook/v1";
import type { Services } from "../services.ts";
import { listDeliveries } from "./deliveries.ts";
import type { InBrand } from "./operation.ts";

/** One promise: a list is filtered as asked, or refused. */

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
