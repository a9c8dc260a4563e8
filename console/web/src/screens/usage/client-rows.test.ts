import { CLIENT_ROWS_MAX, clientRows, daysText } from "./client-rows.ts";

const clients = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    key_id: "key_1",
    name: `client ${index}`,
    messages: 2 * (count - index),
    connecting: count - index,
  }));

it.each([0, 1, CLIENT_ROWS_MAX])("shows each of %i assistants", (count) => {
  const rows = clientRows(clients(count));
  expect(rows.map(({ client }) => client)).toEqual(clients(count));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(count);
});

it("sums up the rest in one row, and loses no message", () => {
  const rows = clientRows(clients(50));
  expect(rows).toHaveLength(CLIENT_ROWS_MAX);
  expect(rows.at(-1)).toEqual({ id: "rest", client: undefined, messages: 31 * 32, connecting: (31 * 32) / 2 });
  expect(rows.reduce((sum, { messages }) => sum + messages, 0)).toBe(50 * 51);
});

it("names the days in Manila", () => {
  const now = Date.parse("2026-11-22T15:59:30Z");
  expect(daysText({ from: now - 60_000, to: now }, now)).toBe("on Nov 22");
  expect(daysText({ from: now - 86_400_000, to: now }, now)).toBe("from Nov 21 to Nov 22");
});
