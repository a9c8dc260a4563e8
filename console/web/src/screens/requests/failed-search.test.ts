import { fieldText, searchFor, selectedBy } from "./failed-search.ts";
import { routeText } from "./route-text.ts";

const group = {
  key_id: "key_1",
  route: "GET /api/v1/payouts",
  code: "invalid_parameter",
  field: "",
  requests: 3,
  first_at: "2026-11-22T08:00:00.000Z",
  last_at: "2026-11-22T08:00:00.000Z",
  request_ids: [],
};

it("leads to one group and back to what the service takes, also for a group without a field", () => {
  const search = searchFor({ range: "hour", code: "rate_limited" }, group);
  expect(search).toEqual({ range: "hour", key: "key_1", route: group.route, code: group.code, field: "none" });
  expect(selectedBy(search)).toEqual({ key_id: "key_1", route: group.route, code: group.code, field: "" });
  expect(selectedBy(searchFor({}, { ...group, field: "*" }))).toMatchObject({ field: "*" });
  expect(selectedBy({ range: "hour" })).toEqual({});
});

it.each([
  ["GET /api/v1/payouts", "GET /api/v1/payouts", undefined],
  ["GET /api/*", "GET /api/*", "A path that does not exist"],
  ["POST /api/mcp tools/call list_payouts", "list_payouts", "Assistant, tool call"],
  ["POST /api/mcp initialize", "initialize", "Assistant"],
  ["POST /api/mcp", "POST /api/mcp", undefined],
])("shows the route %s as %s", (route, name, of) => {
  expect(routeText(route)).toEqual({ name, of });
});

it("says what the error is about", () => {
  expect([fieldText("limit"), fieldText("*"), fieldText("")]).toEqual(["field limit", "a field that does not exist there", undefined]);
});
