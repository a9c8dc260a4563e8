import { AppError } from "@brand-records/errors";
import { diagnose } from "./failures.ts";

it.each([
  ["invalid_id_token", "invalid_response", "The ID token is refused: audience. Sign in again."],
  ["invalid_request", "invalid_response", "subject must not hold blanks or control characters"],
] as const)("shows what accounts refuses with %s as %s, and names the check in the log", (kind, failure, message) => {
  expect(diagnose(new AppError(kind, message))).toEqual({ failure, fields: { cause: message } });
});

it("shows a provider that accounts cannot reach as unavailable: the log of accounts says why", () => {
  const error = new AppError("unavailable", "The sign-in provider cannot be asked at the moment.", { isReported: true });
  expect(diagnose(error)).toEqual({ failure: "unavailable", fields: { cause: "unavailable" } });
});
