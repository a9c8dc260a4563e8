import { hasSignInLinks } from "./index.ts";

it.each([
  [{}, true],
  [{ SIGN_IN_LINKS: "", OIDC_ISSUER: "" }, true],
  [{ SIGN_IN_LINKS: "false" }, false],
  [{ OIDC_ISSUER: "https://id.example" }, false],
  [{ OIDC_ISSUER: "https://id.example", SIGN_IN_LINKS: "true" }, true],
])("says of %j whether links sign people in: %s", (settings, expected) => {
  expect(hasSignInLinks(settings)).toBe(expected);
});
