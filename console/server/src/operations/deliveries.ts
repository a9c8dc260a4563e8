import type { Handlers } from "./operation.ts";

const PAGE_SIZE = 50;

export const DELIVERIES: Handlers<"deliveries"> = {
  "deliveries.list": {
    run: ({ deliveries }, { call }, { states = [], ...filters }) =>
      deliveries.listDeliveries({ ...filters, states, page_size: PAGE_SIZE }, call),
  },
  "deliveries.get": {
    async run({ deliveries }, { call }, input) {
      const { body, attempts, ...details } = await deliveries.getDelivery(input, call);
      return {
        ...details,
        attempts: attempts.map(({ response, ...attempt }) => ({ ...attempt, response: response.toString("utf8") })),
        body: body?.toString("utf8"),
      };
    },
  },
  "deliveries.stats": {
    run: ({ deliveries }, { call }, input) => deliveries.getDeliveryStats(input, call),
  },
  "deliveries.replay": {
    audit: { action: "delivery.replay", subject: ({ delivery_id }) => delivery_id },
    run: ({ deliveries }, { call, person }, input) => deliveries.replayDelivery({ ...input, acting_member: person.email }, call),
  },
};
