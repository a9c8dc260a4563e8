import { browserFamily } from "./visitor.ts";

const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";

it.each([
  [CHROME, "Chrome"],
  [`${CHROME} Edg/156.0.0.0`, "Microsoft Edge"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 14.7; rv:150.0) Gecko/20100101 Firefox/150.0", "Firefox"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
    "Safari",
  ],
  [
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
    "Samsung Internet for Android",
  ],
])("names the browser's family, and no version: %s", (userAgent, family) => {
  expect(browserFamily(userAgent)).toBe(family);
});

it("names none for a program, an empty text or none", () => {
  for (const userAgent of [undefined, "", " ", "\u0000"]) expect(browserFamily(userAgent)).toBeNull();
});

it("fits the audit log whatever a client sends", () => {
  for (const userAgent of [
    "x".repeat(100_000),
    "Chrome/".repeat(10_000),
    `Mozilla/5.0 ${"(".repeat(10_000)}`,
    "<script>alert(1)</script>/1",
    `${"a".repeat(60)}/1.0 (b) c`,
    "a\u0001b/1 (c)",
    " /1 (b)",
  ]) {
    const family = browserFamily(userAgent);
    expect(family === null || /^[^\p{Cc}\s][^\p{Cc}]{0,39}$/u.test(family)).toBe(true);
  }
});
