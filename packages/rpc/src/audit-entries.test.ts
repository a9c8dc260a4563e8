import type { EntryFacts } from "@brand-records/proto/methods";
import { plannedEntry } from "./audit-entries.ts";
import type { Person } from "./call-context.ts";

const FACTS: EntryFacts = { action: "member.remove", subject: "email", fields: ["name", "changes"], role: "role", ofSelf: "member.leave" };
const PERSON: Person = {
  email: "ana@ulap.example",
  via: "zoe@ulap.example",
  limitedTo: "brd_1",
  brand: { id: "brd_1", role: "owner" },
  client: { address: "203.0.113.7", browser: "Firefox" },
};

it("takes person, brand, link and address from the grant, whatever the request says", () => {
  const request = {
    brand_id: "brd_2",
    email: "ben@ulap.example",
    actor: "ben@ulap.example",
    via: null,
    address: "192.0.2.1",
    role: "owner",
  };
  expect(plannedEntry(FACTS, request, PERSON, "r1")).toEqual({
    action: "member.remove",
    brand_id: "brd_1",
    actor: "ana@ulap.example",
    via: "zoe@ulap.example",
    subject_id: "ben@ulap.example",
    fields: [],
    role: "owner",
    request_id: "r1",
    address: "203.0.113.7",
    browser: "Firefox",
  });
});

it("is the operator's without a grant", () => {
  expect(plannedEntry(FACTS, { brand_id: "brd_2", email: "ben@ulap.example" }, undefined, "r1")).toMatchObject({
    brand_id: "brd_2",
    actor: null,
    via: null,
    address: null,
  });
});

it("has names of the fields that are given, those of a message too, and no value", () => {
  const request = { email: "ben@ulap.example", name: "Kape", changes: { title: "Pasko", goal: undefined, brief: "" } };
  expect(plannedEntry(FACTS, request, PERSON, "r1").fields).toEqual(["name", "title", "brief"]);
  expect(plannedEntry(FACTS, { ...request, name: [], changes: null }, PERSON, "r1").fields).toEqual([]);
});

it("tells what a person does to itself, in capitals or not", () => {
  const of = (email: string) => plannedEntry(FACTS, { email }, PERSON, "r1");
  expect(of("ANA@ulap.example")).toMatchObject({ action: "member.leave", subject_id: "ana@ulap.example" });
  expect(of("ben@ulap.example")).toMatchObject({ action: "member.remove" });
});

it.each([
  ["an address that begins like a secret", "brk_team@brand.example", "brk_team@brand.example"],
  ["an address in capitals, as it is stored", "WHSEC_Ana@Brand.example", "whsec_ana@brand.example"],
  ["a key", `brk_live_${"x".repeat(36)}`, undefined],
  ["a signing secret", `whsec_${"x".repeat(43)}=`, undefined],
  ["a sentence", "Ana, with notes", undefined],
  // Accounts counts UTF-16 units, too: an entry that it refuses would hold up all others.
  ["more than it may have", "🎄".repeat(128), undefined],
  ["nothing", "", undefined],
])("has %s as the subject or none", (_, email, subject_id) => {
  expect(plannedEntry(FACTS, { email }, PERSON, "r1").subject_id).toBe(subject_id);
});
