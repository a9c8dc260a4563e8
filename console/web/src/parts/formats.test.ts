import { durationText } from "./formats.ts";

it.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_234, "1.2 s"],
])("%p ms: %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
