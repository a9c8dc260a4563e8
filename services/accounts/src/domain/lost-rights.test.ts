import { lostRights, type LostRight, type RightsEntry } from "./lost-rights.ts";

let written = 0;
beforeEach(() => {
  written = 0;
});

/** An entry a minute after the one before. */
function entry(action: string, subject: string | null, more: Partial<RightsEntry> = {}): RightsEntry {
  written += 1;
  const created_at = new Date(Date.UTC(2026, 10, 24, 8, written)).toISOString();
  const base = { id: `aud_${written}`, brand_id: "brd_1", actor: "owner@a.example", action, subject_id: subject, created_at };
  return { ...base, finished_at: null, outcome: "done", role: null, ...more };
}

const rightsOf = (...entries: RightsEntry[]): readonly LostRight[] => lostRights(entries).lost;
const ANA = "ana@a.example";
const membership = { right: "membership", brandId: "brd_1", email: ANA };
const ownership = { right: "ownership", brandId: "brd_1", email: ANA };

it("takes nothing where nothing was taken", () => {
  expect(lostRights([])).toEqual({ lost: [], open: [] });
  expect(rightsOf(entry("key.create", "key_1"), entry("receiver.delete", "rcv_1"), entry("session.sign_out", ANA))).toEqual([]);
});

it("takes a revoked key, a removed member, one who left, unlinked accounts and a deleted brand", () => {
  const entries = [
    entry("key.revoke", "key_1"),
    entry("member.remove", ANA),
    entry("member.leave", null, { actor: "lia@a.example" }),
    entry("identity.unlink", ANA, { actor: null }),
    entry("brand.delete", "brd_2", { brand_id: "brd_2", actor: null }),
  ];
  expect(rightsOf(...entries)).toEqual([
    { right: "key", brandId: "brd_1", keyId: "key_1" },
    membership,
    { right: "membership", brandId: "brd_1", email: "lia@a.example" },
    { right: "identities", email: ANA },
    { right: "brand", brandId: "brd_2" },
  ]);
});

it.each([null, "unknown"] as const)("counts what has no certain outcome (%s) as taken, and as never given", (outcome) => {
  expect(rightsOf(entry("key.revoke", "key_1", { outcome }))).toHaveLength(1);
  expect(rightsOf(entry("member.remove", ANA, { outcome }))).toEqual([membership]);
  expect(rightsOf(entry("member.set_role", ANA, { outcome, role: "member" }))).toEqual([ownership]);
  expect(rightsOf(entry("member.remove", ANA), entry("member.add", ANA, { outcome, role: "owner" }))).toEqual([membership]);
  expect(rightsOf(entry("member.set_role", ANA, { role: "member" }), entry("member.set_role", ANA, { outcome, role: "owner" }))).toEqual([
    ownership,
  ]);
});

it("ignores what was refused", () => {
  const refused = { outcome: "failed" } as const;
  expect(
    rightsOf(entry("key.revoke", "key_1", refused), entry("member.remove", ANA, refused), entry("brand.delete", "brd_1", refused)),
  ).toEqual([]);
});

it("counts the last line of an id: the outcome comes later", () => {
  const begun = entry("key.revoke", "key_1", { outcome: null });
  expect(rightsOf(begun, { ...begun, outcome: "failed" })).toEqual([]);
  expect(rightsOf({ ...begun, outcome: "failed" }, begun)).toHaveLength(1);
});

it.each<[string, RightsEntry[], LostRight["right"][]]>([
  ["removed, then added as an owner", [entry("member.remove", ANA), entry("member.add", ANA, { role: "owner" })], []],
  ["removed, then added as a member", [entry("member.remove", ANA), entry("member.add", ANA, { role: "member" })], ["ownership"]],
  ["removed, then added with no role that is known", [entry("member.remove", ANA), entry("member.add", ANA)], ["ownership"]],
  ["added as an owner, then removed", [entry("member.add", ANA, { role: "owner" }), entry("member.remove", ANA)], ["membership"]],
  ["demoted, then promoted", [entry("member.set_role", ANA, { role: "member" }), entry("member.set_role", ANA, { role: "owner" })], []],
  [
    "promoted, then demoted",
    [entry("member.set_role", ANA, { role: "owner" }), entry("member.set_role", ANA, { role: "member" })],
    ["ownership"],
  ],
  ["removed, and promoted too late", [entry("member.remove", ANA), entry("member.set_role", ANA, { role: "owner" })], ["membership"]],
  ["given another role, by a release that does not say which", [entry("member.set_role", ANA)], ["ownership"]],
])("follows a membership: %s", (_what, entries, rights) => {
  expect(lostRights(entries).lost.map(({ right }) => right)).toEqual(rights);
  // The order of the lines does not matter: their times do.
  expect(lostRights(entries.toReversed()).lost.map(({ right }) => right)).toEqual(rights);
});

it("keeps one brand's members apart from another's", () => {
  const entries = [entry("member.remove", ANA), entry("member.add", ANA, { brand_id: "brd_2", role: "owner" })];
  expect(lostRights(entries).lost).toEqual([membership]);
});

it("believes no member who claims what the operator does: a member's session can write entries", () => {
  const claimed = ["identity.unlink", "brand.delete", "person.erase", "brand.set_tier"].map((action) => entry(action, ANA));
  expect(lostRights(claimed)).toEqual({ lost: [], open: [] });
});

it("follows the ends of changes, which may have begun in another order", () => {
  const at = (minute: number): string => new Date(Date.UTC(2026, 10, 24, 9, minute)).toISOString();
  const removal = entry("member.remove", ANA, { finished_at: at(9) });
  const added = entry("member.add", ANA, { role: "owner", finished_at: at(5) });
  expect(lostRights([removal, added]).lost).toEqual([membership]);
});

it("knows an erased person by an earlier line of the same entry, and by none of a later export", () => {
  const erased = "erased_01jd0000000000000000000000";
  const [removal, left] = [entry("member.remove", ANA), entry("member.leave", null, { actor: "lia@a.example" })];
  const later = [
    { ...removal, subject_id: erased },
    { ...left, actor: erased },
  ];
  expect(lostRights([removal, left, ...later]).lost).toEqual([membership, { ...membership, email: "lia@a.example" }]);
  expect(lostRights(later)).toMatchObject({ lost: [], open: [{ subject_id: erased }, { action: "member.leave" }] });
});

it("asks a person about entries that name no person any more, and about tier and verification", () => {
  const entries = [
    entry("member.remove", "erased_01jd0000000000000000000000"),
    entry("person.erase", "erased_01jd0000000000000000000000", { actor: null }),
    entry("brand.set_tier", "brd_1", { actor: null }),
    entry("brand.set_verified", "brd_1", { actor: null }),
  ];
  const { lost, open } = lostRights(entries);
  expect(lost).toEqual([]);
  expect(open.map(({ action }) => action)).toEqual(["member.remove", "person.erase", "brand.set_tier", "brand.set_verified"]);
});
