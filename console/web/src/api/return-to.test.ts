import { KEPT_MS, keptText, pathAfterSignIn } from "./return-to.ts";

const PLAN = "/workspaces/ugc/plans/pln_1?step=budget";
const AT = 1_795_600_000_000;

it("leads from a link without a path to the page that the person came for", () => {
  expect(pathAfterSignIn(undefined, keptText(PLAN, AT), AT + KEPT_MS)).toBe(PLAN);
});

it("prefers the path of the page itself", () => {
  expect(pathAfterSignIn("/developers/keys", keptText(PLAN, AT), AT)).toBe("/developers/keys");
});

it("leads to the first page after an hour, without anything kept, and instead of another site", () => {
  expect(pathAfterSignIn(undefined, keptText(PLAN, AT), AT + KEPT_MS + 1)).toBe("/developers");
  expect(pathAfterSignIn(undefined, null, AT)).toBe("/developers");
  expect(pathAfterSignIn(undefined, JSON.stringify({ path: "//evil.example", at: AT }), AT)).toBe("/developers");
});
