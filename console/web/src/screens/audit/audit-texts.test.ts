import { glob, readFile } from "node:fs/promises";
import { ACTIONS, actionText, fieldsText, reasonText } from "./audit-texts.ts";

/** Where an action of the audit log is written, or declared. */
const SOURCES = ["console/server/src/**/*.ts", "brandctl/src/audit/*.ts", "services/*/src/**/*.ts"];
const ACTION = /\baction: "([a-z_]+\.[a-z_]+)"/g;

it("every action that anything writes into the audit log has a text", async () => {
  const written = new Set<string>();
  for await (const file of glob(SOURCES)) {
    if (file.endsWith(".test.ts")) continue;
    for (const [, action = ""] of (await readFile(file, "utf8")).matchAll(ACTION)) written.add(action);
  }
  // One of each place, so that a place which is written differently is noticed.
  expect([...written]).toEqual(expect.arrayContaining(["receiver.activate_secret", "brand.set_tier", "sign_in_link.create"]));
  expect([...written].filter((action) => !(action in ACTIONS))).toEqual([]);
});

it("names what has no text as it is", () => {
  expect(actionText("plan.complete_early")).toBe("plan.complete_early");
  expect(fieldsText(["url", "next_review", "label"])).toBe("URL, next review, label");
  expect(reasonText("payload_too_large")).toBe("payload too large");
});
