import { readRetryAfter } from "./response-meta.ts";

const SENT_AT = "Sat, 21 Nov 2026 08:30:00 GMT";
const retryAfter = (text: string, date = SENT_AT) => readRetryAfter(new Response(null, { headers: { "Retry-After": text, Date: date } }));

it.each([
  ["7", 7],
  ["86401", 86_400],
  ["9999999999", 86_400],
  ["9".repeat(310), 86_400],
  ["Sat, 21 Nov 2026 08:31:00 GMT", 60],
  ["Saturday, 21-Nov-26 08:31:00 GMT", 60],
  ["Sat Nov 21 08:31:00 2026", 60],
  ["Tue Dec  1 08:30:00 2026", 86_400],
  ["Sat, 21 Nov 2026 08:00:00 GMT", 0],
  ["-1", undefined],
  ["1795227310", 86_400],
  ["120.5", undefined],
  ["3600.5", undefined],
  ["1e1", undefined],
  ["2, 3", undefined],
  ["+5", undefined],
  ["2026-11-21", undefined],
  ["1 week", undefined],
  ["Sat, 31 Nov 2026 08:31:00 GMT", undefined],
])("reads Retry-After %j as %j seconds after the response's date", (text, seconds) => {
  expect(retryAfter(text)).toBe(seconds);
});

it("counts a date from its own clock if the response has none that can be read", () => {
  expect(retryAfter(SENT_AT, "2026-11-21")).toBe(Math.min(86_400, Math.max(0, Math.ceil((Date.parse(SENT_AT) - Date.now()) / 1_000))));
});
