import type { Output } from "@brand-records/console-contract";
import { tabOf, type Tab } from "./tab.ts";

const EMAIL = "ana@example.ph";

const me = (...names: readonly string[]): Output<"session.me"> => ({
  email: EMAIL,
  issuer: null,
  ends_at: "2026-11-23T12:00:00.000Z",
  memberships: names.map((name) => ({ brand_id: `brd_${name}`, brand_name: name, tier: "plus", verified: true, role: "owner" })),
  limited_to: null,
  environment: "live",
  rate_limits: {},
  command_line: null,
});

const tab = (name: string, email = EMAIL): Tab => ({ email, brand_id: `brd_${name}`, brand_name: name });

it("begins with the chosen brand, or else with the first", () => {
  expect(tabOf(me("a", "b"), undefined, "brd_b")).toEqual(tab("b"));
  expect(tabOf(me("a", "b"), undefined, "brd_left")).toEqual(tab("a"));
  expect(tabOf(me("a", "b"), undefined, null)).toEqual(tab("a"));
});

it("keeps its brand, whatever is chosen elsewhere, and also if the person is no longer its member", () => {
  expect(tabOf(me("a", "b"), tab("b"), "brd_a")).toEqual(tab("b"));
  expect(tabOf(me("a", "b"), tab("left"), "brd_a")).toEqual(tab("left"));
});

it("keeps no brand of another person, though both are its members", () => {
  expect(tabOf(me("a", "b"), tab("b", "jun@example.ph"), null)).toEqual(tab("a"));
});

it("shows the one brand of a session that opens it alone", () => {
  expect(tabOf({ ...me("a"), limited_to: "brd_a" }, tab("b"), "brd_b")).toEqual(tab("a"));
});

it("refuses a person of no brand", () => {
  expect(() => tabOf(me(), undefined, null)).toThrow("not a member of any brand");
});
