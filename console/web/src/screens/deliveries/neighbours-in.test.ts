import type { Output } from "@brand-records/console-contract";
import { neighboursIn } from "./neighbours-in.ts";

const page = (ids: readonly string[], next: string | null) =>
  ({ deliveries: ids.map((id) => ({ id })), next_after_id: next }) as unknown as Output<"deliveries.list">;

it("knows the deliveries on both sides, and tells an end of the list from an end of its page", () => {
  expect(neighboursIn(page(["dlv_3", "dlv_2", "dlv_1"], null), "dlv_2", null)).toEqual({ newer: "dlv_3", older: "dlv_1" });
  expect(neighboursIn(page(["dlv_3", "dlv_2"], null), "dlv_3", null)).toEqual({ newer: null, older: "dlv_2" });
  expect(neighboursIn(page(["dlv_3", "dlv_2"], "dlv_2"), "dlv_2", null)).toEqual({ newer: "dlv_3", older: undefined });
  expect(neighboursIn(page(["dlv_3", "dlv_2"], null), "dlv_3", undefined)).toEqual({ newer: undefined, older: "dlv_2" });
  expect(neighboursIn(page(["dlv_3", "dlv_2"], null), "dlv_3", "dlv_4")).toEqual({ newer: "dlv_4", older: "dlv_2" });
  expect(neighboursIn(page(["dlv_3"], null), "dlv_9", null)).toBeUndefined();
});
