import { ownPath } from "./own-path.ts";

it.each(["/developers", "/developers/keys", "/developers/receivers/rcv_1?state=failed#x", "/workspaces/ugc/plans/pln_1?step=2"])(
  "returns to %s",
  (path) => {
    expect(ownPath(path)).toBe(path);
  },
);

it.each([
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "/developers\\..\\..",
  "/developersx",
  "javascript:alert(1)",
  "/sign-in",
  "/docs",
  "",
  undefined,
  7,
])("opens the first page instead of %j", (path) => {
  expect(ownPath(path)).toBe("/developers");
});
