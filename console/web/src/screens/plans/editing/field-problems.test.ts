import { CallError } from "../../../api/call.ts";
import { problemName, problemsOf, refusedFields } from "./field-problems.ts";

const refusal = (...details: { field: string; message: string }[]) =>
  new CallError({ code: "invalid_request", message: "refused", details });

it("puts each of the service's problems at the page's field of that name", () => {
  const error = refusal(
    { field: "title", message: "must not be empty" },
    { field: "requirements[2]", message: "must be at most 500 characters" },
    { field: "changes.platforms", message: "must have at most 200 elements" },
    { field: "planning_budget_centavos", message: "must be an integer" },
    { field: "review_on", message: "must be a real date as YYYY-MM-DD, such as 2026-12-31" },
    { field: "expected_revision", message: "must be at least 1" },
  );
  expect(refusedFields(error)).toEqual({
    title: "Must not be empty",
    "requirements.2": "Must be at most 500 characters",
    platforms: "Must have at most 200 elements",
    budget: expect.stringContaining("such as 75,000.50"),
    review_on: expect.stringContaining("whole date"),
  });
  expect(Object.keys(refusedFields(error)).map(problemName)).toEqual(["Title", "Requirement 3", "Platforms", "Budget", "Review on"]);
});

it("finds text that is no amount before anything is sent", () => {
  expect(problemsOf({ budget: "a lot" })).toEqual({ budget: expect.stringContaining("such as 75,000.50") });
  expect(problemsOf({ budget: "75,000.505" })).toEqual({ budget: expect.stringContaining("at most two decimals") });
  expect(problemsOf({ budget: "₱ 5000", title: "" })).toEqual({});
});
