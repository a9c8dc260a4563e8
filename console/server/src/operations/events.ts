import type { Handlers } from "./operation.ts";

const PAGE_SIZE = 50;

export const EVENTS: Handlers<"events"> = {
  "events.list": {
    run: ({ events }, { call }, input) => events.listEvents({ ...input, page_size: PAGE_SIZE, count_receivers: true }, call),
  },
  "events.get": {
    async run({ events }, { call }, input) {
      const { body, ...found } = await events.getEvent(input, call);
      return { ...found, body: body.toString("utf8") };
    },
  },
};
