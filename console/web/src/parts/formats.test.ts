import { durationText, visibleControls } from "./formats.ts";

it.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1_234, "1.2 s"],
])("%p ms: %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

it("writes out what turns the direction of a text, and leaves right-to-left text and emoji as they are", () => {
  expect(visibleControls("Pay \u202E005\u202C \u2066x\u2069")).toBe("Pay [U+202E]005[U+202C] [U+2066]x[U+2069]");
  expect(visibleControls("حملة שלום \u200F👩‍👩‍👧‍👦\n")).toBe("حملة שלום \u200F👩‍👩‍👧‍👦\n");
});
