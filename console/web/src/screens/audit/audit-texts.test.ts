import { actionText, fieldsText, reasonText } from "./audit-texts.ts";

it("names what has no text as it is", () => {
  expect(actionText("plan.complete_early")).toBe("plan.complete_early");
  expect(fieldsText(["url", "next_review", "label"])).toBe("URL, next review, label");
  expect(reasonText("payload_too_large")).toBe("payload too large");
});
