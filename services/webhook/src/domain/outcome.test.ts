import { ATTEMPT_OUTCOMES } from "@brand-records/console-contract";
import { OUTCOME_KINDS } from "./outcome.ts";

it("the console knows every outcome that this service writes, and no other", () => {
  expect([...ATTEMPT_OUTCOMES].toSorted()).toEqual([...OUTCOME_KINDS].toSorted());
});
