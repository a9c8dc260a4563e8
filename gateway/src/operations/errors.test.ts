import { ERROR_KINDS } from "@brand-records/errors";
import { readFileSync } from "node:fs";
import { COMMON_ERRORS, ERROR_ADVICE, type DescribedError } from "./errors.ts";
import { OPERATIONS } from "./index.ts";

it("docs/errors.md explains exactly the errors of the HTTP API, with their statuses", () => {
  // jest runs in the repository's root.
  const documented = [...readFileSync("docs/errors.md", "utf8").matchAll(/^### (\w+)\n\n\*\*(\d{3})\.\*\* /gm)].map(
    ([, code, status]) => `${status} ${code}`,
  );
  const described = (Object.keys(ERROR_ADVICE) as DescribedError[]).map((kind) => `${ERROR_KINDS[kind].http} ${kind}`);
  expect(documented.toSorted()).toEqual(described.toSorted());
});

it("every described error is listed by an operation, unless only the assistants' endpoint returns it", () => {
  const listed = new Set<string>([...COMMON_ERRORS, ...OPERATIONS.flatMap(({ errors }) => errors)]);
  expect(Object.keys(ERROR_ADVICE).filter((kind) => !listed.has(kind))).toEqual(["origin_not_allowed"]);
});
