import { deliveredText } from "./delivered-text.ts";

it.each([
  [5, 3, "3 of 5"],
  [1, 0, "0 of 1"],
  [0, 0, "No receiver"],
  [null, null, ""],
])("says of an event with %p receivers, of which %p accepted it, %p", (receivers, receivers_accepted, text) => {
  expect(deliveredText({ receivers, receivers_accepted })).toBe(text);
});
