import { ownPath } from "./own-path.ts";

it.each(["/developers", "/developers/keys", "/developers/receivers/rcv_1?state=failed#x", "/workspaces/ugc/plans/pln_1?step=2"])(
  "returns to %s",
  (path) => {
    expect(ownPath(path)).toBe(path);
  },
);

it("returns a path as a browser resolves and sends it", () => {
  expect(ownPath("/developers/keys/../receivers?label=ñ")).toBe("/developers/receivers?label=%C3%B1");
});

it.each([
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "/%2f/evil.example",
  "/developers\\..\\..",
  "/developersx",
  "/developers/..//evil.example",
  "/developers/%2e%2e//evil.example",
  "/developers/x/..//evil.example",
  "/developers//evil.example",
  "/developers/../docs",
  "/developers\r\nSet-Cookie: session=x",
  "/developers\u0000",
  " /developers",
  "@evil.example/developers",
  "javascript:alert(1)",
  "/sign-in",
  "/docs",
  "",
  `/developers?${"x".repeat(500)}`,
  `/developers?${"ñ".repeat(100)}`,
  undefined,
  null,
  7,
  ["/developers/keys"],
])("opens the first page instead of %j", (path) => {
  expect(ownPath(path)).toBe("/developers");
});
