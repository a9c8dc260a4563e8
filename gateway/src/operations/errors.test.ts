import { ERROR_KINDS } from "@brand-records/errors";
import { readFileSync } from "node:fs";
import { ERROR_ADVICE, type DescribedError } from "./errors.ts";

it("docs/api.md lists exactly the errors of the HTTP API, with their statuses", () => {
  // jest runs in the repository's root.
  const [, section = ""] = /^## Every error\n(.*)/ms.exec(readFileSync("docs/api.md", "utf8")) ?? [];
  const documented = [...section.matchAll(/^\| (\d{3}) +\| `(\w+)` /gm)].map(([, status, code]) => `${status} ${code}`);
  const described = (Object.keys(ERROR_ADVICE) as DescribedError[]).map((kind) => `${ERROR_KINDS[kind].http} ${kind}`);
  expect(documented.toSorted()).toEqual(described.toSorted());
});
