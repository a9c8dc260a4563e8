import { readEventMessage, sampleData } from "./event-message.ts";
import { EVENT_TYPE_NAMES } from "./event-types.ts";

const NOW = "2026-11-21T08:30:00.000Z";

it.each(EVENT_TYPE_NAMES)("the sample of %s is a valid event message of a record that does not exist", (type) => {
  const data = sampleData(type, NOW);
  const message = { id: "evt_1", type, created_at: NOW, brand_id: "brd_1", data };
  expect(readEventMessage(Buffer.from(JSON.stringify(message)))).toMatchObject({ event: message, dataJson: JSON.stringify(data) });
  expect(data.id).toMatch(/^[a-z]+_test$/);
  expect(data.campaign_id).toBe("cmp_test");
});
