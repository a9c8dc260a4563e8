import { EVENT_TYPE_NAMES, EVENT_TYPES } from "@brand-records/resources";
import { companionsOf } from "./status-rules.ts";

it.each(EVENT_TYPE_NAMES)("set-status sets every time that %s carries", (type) => {
  const [kind = "", status = ""] = type.split(".");
  const { shape } = EVENT_TYPES[type].data;
  // The database sets updated_at.
  const times = Object.keys(shape).filter((field) => field.endsWith("_at") && field !== "updated_at");
  expect(Object.keys(companionsOf(kind, status))).toEqual(expect.arrayContaining(times));
});
