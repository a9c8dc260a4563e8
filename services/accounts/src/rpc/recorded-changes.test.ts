import { randomUUID } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/ids";
import type { Database } from "@brand-records/postgres";
import { METHODS } from "@brand-records/proto/methods";
import type { CallContext } from "@brand-records/rpc";
import { believeClaims } from "../../test/claimed-identity.ts";
import { peopleOf } from "../../test/people.ts";
import { callContext, expectRefusal, servedAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

/** One promise: each change of accounts writes its entry into the audit log, in the transaction that makes it, and nothing else does. */

const client = { address: "203.0.113.7", browser: "Firefox" };
const elsewhere = { address: "203.0.113.8", browser: "Safari" };
/** What requests say of who acts: nothing believes it. */
const nobody = "nobody@ulap.example";

const served = servedAccounts(() => ({ identify: believeClaims }));
const people = peopleOf(served);
let rollingBack: ServedAccounts;
let brand: TestBrand;
let member: string;
let sessions: Record<"owner" | "member", string>;

beforeAll(async () => {
  rollingBack = await served.alsoWith({ db: thatRollsBack(served.db) });
});
beforeEach(async () => {
  brand = await served.createBrand();
  member = `lia@${brand.id.slice(4)}.example`;
  await people.addMember(brand, member);
  sessions = { owner: await people.session(brand.owner), member: await people.session(member) };
});

const thatRollsBack = (db: Database): Database => ({
  ...db,
  transaction: (work, options) =>
    db.transaction(async (sql) => {
      await work(sql);
      throw new AppError("unavailable", "The connection broke before the commit.");
    }, options),
});

const acting = async (by: "owner" | "member" | "operator", from: object = client): Promise<CallContext> => ({
  ...callContext(),
  requestId: randomUUID(),
  ...(by !== "operator" && { grants: await people.grants(sessions[by], brand, from) }),
});

const entriesOf = ({ requestId }: Pick<CallContext, "requestId">): Promise<Record<string, unknown>[]> =>
  served.db.query(
    `select brand_id, actor, via, action, subject_id, fields, role, address, browser, outcome, error_kind, tries, recorded
       from accounts.audit_entries where request_id = $1 order by id`,
    [requestId],
  );

type Make = (by: ServedAccounts, call: CallContext) => Promise<unknown>;

interface Change {
  readonly by: "owner" | "operator";
  /** What is there before. Returns what makes the change. */
  readonly prepare: () => Make | Promise<Make>;
  /** What differs from an entry about the brand. */
  readonly entry: (response: never) => object;
  /** What the same call does when it is made again. */
  readonly again: "nothing" | "another change" | "is refused";
}

/** Every method of accounts that writes an entry, but those of sessions. */
const CHANGES: Readonly<Record<string, Change>> = {
  "AccountsService/CreateBrand": {
    by: "operator",
    prepare: () => {
      const request = { id: newId("brd"), name: "Kape", tier: "pro", verified: true };
      return ({ accounts }, call) => accounts.createBrand(request, call);
    },
    entry: ({ brand: { id } }: { brand: { id: string } }) => ({
      brand_id: id,
      action: "brand.create",
      subject_id: id,
      fields: ["name", "tier", "verified"],
    }),
    again: "nothing",
  },
  "AccountsService/SetBrandTier": {
    by: "operator",
    prepare:
      () =>
      ({ accounts }, call) =>
        accounts.setBrandTier({ brand_id: brand.id, tier: "pro" }, call),
    entry: () => ({ action: "brand.set_tier", subject_id: brand.id, fields: ["tier"] }),
    again: "nothing",
  },
  "AccountsService/SetBrandVerified": {
    by: "operator",
    prepare:
      () =>
      ({ accounts }, call) =>
        accounts.setBrandVerified({ brand_id: brand.id, verified: false }, call),
    entry: () => ({ action: "brand.set_verified", subject_id: brand.id, fields: ["verified"] }),
    again: "nothing",
  },
  "AccountsService/AddMember": {
    by: "owner",
    prepare:
      () =>
      ({ accounts }, call) =>
        accounts.addMember({ brand_id: brand.id, email: `BRK_${member}`, role: "owner", acting_member: nobody }, call),
    entry: () => ({ action: "member.add", subject_id: `brk_${member}`, fields: ["role"], role: "owner" }),
    again: "nothing",
  },
  "AccountsService/SetMemberRole": {
    by: "owner",
    prepare:
      () =>
      ({ accounts }, call) =>
        accounts.setMemberRole({ brand_id: brand.id, email: member.toUpperCase(), role: "owner", acting_member: nobody }, call),
    entry: () => ({ action: "member.set_role", subject_id: member, fields: ["role"], role: "owner" }),
    again: "nothing",
  },
  "AccountsService/RemoveMember": {
    by: "owner",
    prepare: async () => {
      await people.addMember(brand, `ben.${member}`);
      const request = { brand_id: brand.id, email: `BEN.${member}`, acting_member: `ben.${member}` };
      return ({ accounts }, call) => accounts.removeMember(request, call);
    },
    entry: () => ({ action: "member.remove", subject_id: `ben.${member}` }),
    again: "is refused",
  },
  "AccountsService/SetMailSettings": {
    by: "owner",
    prepare:
      () =>
      ({ accounts }, call) =>
        accounts.setMailSettings({ brand_id: brand.id, acting_member: nobody, receivers: false }, call),
    entry: () => ({ action: "member.set_mail", subject_id: null, fields: ["receivers"] }),
    again: "nothing",
  },
  "AccountsService/CreateKey": {
    by: "owner",
    prepare:
      () =>
      ({ accounts }, call) =>
        accounts.createKey({ brand_id: brand.id, name: "Books", environment: "live", permissions: [], created_by: nobody }, call),
    entry: ({ key: { id, created_by } }: { key: { id: string; created_by: string } }) => {
      expect(created_by).toBe(brand.owner);
      return { action: "key.create", subject_id: id, fields: ["name", "environment"] };
    },
    again: "another change",
  },
  "AccountsService/RevokeKey": {
    by: "owner",
    prepare: async () => {
      const { id } = await served.createKey(brand);
      return ({ accounts }, call) => accounts.revokeKey({ key_id: id, brand_id: brand.id, revoked_by: nobody }, call);
    },
    entry: ({ key: { id, revoked_by } }: { key: { id: string; revoked_by: string } }) => {
      expect(revoked_by).toBe(brand.owner);
      return { action: "key.revoke", subject_id: id };
    },
    again: "nothing",
  },
  "SignInService/CreateSignInLink": {
    by: "owner",
    prepare:
      () =>
      ({ signIn }, call) =>
        signIn.createSignInLink({ brand_id: brand.id, email: member.toUpperCase(), ttl_seconds: 0, acting_member: nobody }, call),
    entry: () => ({ action: "sign_in_link.create", subject_id: member }),
    again: "another change",
  },
  "SignInService/UnlinkIdentities": {
    by: "operator",
    prepare: async () => {
      await served.db.query("insert into accounts.identities (issuer, subject, email) values ('https://id.example', $1, $1)", [member]);
      return ({ signIn }, call) => signIn.unlinkIdentities({ email: member.toUpperCase() }, call);
    },
    entry: () => ({ action: "identity.unlink", subject_id: member }),
    again: "nothing",
  },
  "OperatorService/ErasePerson": {
    by: "operator",
    prepare: async () => {
      await people.removeMember(brand, member);
      const { pseudonym } = await served.operator.beginErasure({ email: member });
      await served.db.query("update accounts.erasures set begun_at = begun_at - interval '35 s' where email = $1", [member]);
      pseudonyms.set(brand.id, pseudonym);
      return ({ operator }, call) => operator.erasePerson({ email: member, brand_ids: [] }, call);
    },
    entry: () => ({ action: "person.erase", subject_id: pseudonyms.get(brand.id) }),
    again: "is refused",
  },
  "OperatorService/BeginBrandMove": {
    by: "operator",
    prepare:
      () =>
      ({ operator }, call) =>
        operator.beginBrandMove({ brand_id: brand.id, cell: "b" }, call),
    entry: () => ({ action: "brand.begin_move", subject_id: brand.id, fields: ["cell"] }),
    again: "nothing",
  },
  "OperatorService/SwitchBrandMove": {
    by: "operator",
    prepare: async () => {
      const { move } = await served.operator.beginBrandMove({ brand_id: brand.id, cell: "b" });
      return ({ operator }, call) => operator.switchBrandMove({ brand_id: brand.id, started_at: move?.started_at ?? "" }, call);
    },
    entry: () => ({ action: "brand.set_cell", subject_id: brand.id }),
    again: "nothing",
  },
  "OperatorService/EndBrandMove": {
    by: "operator",
    prepare: async () => {
      const { move } = await served.operator.beginBrandMove({ brand_id: brand.id, cell: "b" });
      const ending = { brand_id: brand.id, started_at: move?.started_at ?? "", abort: true };
      return ({ operator }, call) => operator.endBrandMove(ending, call);
    },
    entry: () => ({ action: "brand.abort_move", subject_id: brand.id }),
    again: "nothing",
  },
  "OperatorService/BeginBrandDeletion": {
    by: "operator",
    prepare:
      () =>
      ({ operator }, call) =>
        operator.beginBrandDeletion({ brand_id: brand.id, resume: false }, call),
    // The outcome is written when all is deleted.
    entry: () => ({ action: "brand.delete", subject_id: brand.id, outcome: null }),
    again: "nothing",
  },
};

const pseudonyms = new Map<string, string>();

const OF_SESSIONS = [
  "SignInService/PeekSignInLink",
  "SignInService/RedeemSignInLink",
  "SignInService/SignInWithIdentity",
  "SessionsService/EndSession",
  "SessionsService/EndSessionsOf",
];

it("concerns every method of accounts that writes an entry; sign-in-audit.test.ts has those of sessions", () => {
  const writing = Object.keys(METHODS).filter((path) => path.startsWith("/accounts.") && METHODS[path]?.entry !== undefined);
  expect([...Object.keys(CHANGES), ...OF_SESSIONS].toSorted()).toEqual(writing.map((path) => path.replace("/accounts.v1.", "")).toSorted());
});

const changes = Object.entries(CHANGES).map(([method, change]) => ({ method, ...change }));

it.each(changes)("$method writes one true entry, and none where it changes nothing", async ({ by, prepare, entry, again }) => {
  const make = await prepare();
  const [call, repetition] = [await acting(by), await acting(by)];
  const response = await make(served, call);
  const from = by === "operator" ? { actor: null, address: null, browser: null } : { actor: brand.owner, ...client };
  const common = { brand_id: brand.id, via: null, fields: [], role: null, outcome: "done", error_kind: null, tries: 1, recorded: true };
  expect(await entriesOf(call)).toEqual([{ ...common, ...from, ...entry(response as never) }]);
  const repeated = make(served, repetition);
  if (again === "is refused") await expectRefusal(repeated, "not_found");
  else await repeated;
  expect(await entriesOf(repetition)).toHaveLength(again === "another change" ? 1 : 0);
});

it.each(changes)("$method writes none if its transaction does not commit", async ({ by, prepare }) => {
  const make = await prepare();
  const call = await acting(by);
  await expectRefusal(make(rollingBack, call), "unavailable");
  expect(await entriesOf(call)).toEqual([]);
  await make(served, call);
  expect(await entriesOf(call)).toHaveLength(1);
});

it("has the owner whose link opened the session", async () => {
  await people.addMember(brand, member, "owner");
  sessions.owner = await people.open(await people.ownersLink(brand, member));
  const call = await acting("owner");
  await served.accounts.createKey({ brand_id: brand.id, name: "Books", environment: "live", permissions: [], created_by: nobody }, call);
  expect(await entriesOf(call)).toMatchObject([{ actor: member, via: brand.owner }]);
});

it("tells of a member who leaves", async () => {
  const call = await acting("member");
  await served.accounts.removeMember({ brand_id: brand.id, email: member.toUpperCase() }, call);
  expect(await entriesOf(call)).toMatchObject([{ action: "member.leave", actor: member, subject_id: member }]);
});

it.each(changes.filter(({ by }) => by === "owner"))("$method counts what it refuses a member in one entry a day", async ({ prepare }) => {
  const make = await prepare();
  const [first, last] = [await acting("member"), await acting("member", elsewhere)];
  for (const call of [first, last]) await expectRefusal(make(served, call), "owner_required");
  expect(await entriesOf(first)).toEqual([]);
  const refused = { actor: member, outcome: "failed", error_kind: "owner_required", tries: 2, ...elsewhere };
  expect(await entriesOf(last)).toEqual([expect.objectContaining({ brand_id: brand.id, ...refused })]);
});

it("counts simultaneous refusals, and loses none", async () => {
  const call = await acting("member");
  const request = { brand_id: brand.id, email: nobody, role: "owner" };
  await Promise.all(Array.from({ length: 20 }, () => expectRefusal(served.accounts.addMember(request, call), "owner_required")));
  expect(await entriesOf(call)).toMatchObject([{ tries: 20 }]);
});

it("tells refusals of another kind, and of another person, apart", async () => {
  const [owner, other] = [await acting("owner"), await acting("member")];
  const { accounts } = served;
  await expectRefusal(accounts.addMember({ brand_id: brand.id, email: member, role: "member", only_new: true }, owner), "already_exists");
  await expectRefusal(accounts.addMember({ brand_id: brand.id, email: member, role: "member" }, other), "owner_required");
  const demotion = await acting("owner");
  await expectRefusal(accounts.addMember({ brand_id: brand.id, email: brand.owner, role: "member" }, demotion), "last_owner");
  for (const [call, actor, error_kind] of [
    [owner, brand.owner, "already_exists"],
    [other, member, "owner_required"],
    [demotion, brand.owner, "last_owner"],
  ] as const)
    expect(await entriesOf(call)).toMatchObject([{ actor, error_kind, tries: 1 }]);
});

it("writes nothing of a request that is written wrongly, concerns another brand, or is the operator's", async () => {
  const [wrong, others, operators] = [await acting("owner"), await acting("owner"), await acting("operator")];
  const { accounts } = served;
  const key = { brand_id: brand.id, name: "", environment: "live", permissions: [], created_by: brand.owner };
  await expectRefusal(accounts.createKey(key, wrong), "invalid_request");
  const theirs = await served.createBrand();
  await expectRefusal(accounts.createKey({ ...key, brand_id: theirs.id, name: "Books" }, others), "not_found");
  await expectRefusal(accounts.removeMember({ brand_id: brand.id, email: brand.owner }, operators), "last_owner");
  for (const call of [wrong, others, operators]) expect(await entriesOf(call)).toEqual([]);
});

it("refuses what cannot be recorded all the same", async () => {
  const call = await acting("member");
  // The log has no such role.
  const request = { brand_id: brand.id, email: nobody, role: "king" };
  await expectRefusal(served.accounts.addMember(request, call), "owner_required");
  expect(await entriesOf(call)).toEqual([]);
});
