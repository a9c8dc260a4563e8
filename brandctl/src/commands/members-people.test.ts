import { AppError } from "@brand-records/errors";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { FakePlans, planOf } from "../../test/fake-plans.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome } from "../../test/test-terminal.ts";

const EMAIL = "ana@ulap.example";

let accounts: FakeAccounts;
let plans: FakePlans;
let served: Served[];
const run = (line: string): Promise<Outcome> => {
  const [ACCOUNTS_ADDRESS, PLANS_ADDRESS] = served.map(({ address }) => address);
  return brandctl(`members ${line}`.split(" "), { env: { ACCOUNTS_ADDRESS, PLANS_ADDRESS } });
};
const entry = (id: string) => ({
  id,
  brand_id: "brd_1",
  by: "person",
  action: "key.create",
  subject_id: "key_1",
  fields: ["name"],
  request_id: "r-1",
  address: "203.0.113.7",
  created_at: "2026-11-21T08:30:00.000Z",
  outcome: "done",
  via_person: false,
});

beforeEach(async () => {
  [accounts, plans] = [new FakeAccounts(), new FakePlans()];
  served = [await serve(...accounts.served), await serve(...plans.served)];
  accounts.exported.set(EMAIL, [{ audit_entries: [entry("aud_1")] }, {}, { audit_entries: [entry("aud_2")] }]);
  plans.plans.push(planOf({ status: "completed", closed_at: "2026-11-21T09:00:00.000Z", closed_by: EMAIL }), planOf({ id: "pln_2" }));
});
afterEach(() => Promise.all(served.map((one) => one.stop())));

describe("brandctl members export", () => {
  it("prints every page of every service as JSON", async () => {
    const { person } = (await run(`export ${EMAIL.toUpperCase()} --json`)).json() as { person: Record<string, { id: string }[]> };
    expect(person).toMatchObject({
      email: EMAIL,
      memberships: [],
      audit_entries: [entry("aud_1"), entry("aud_2")],
      plans: [{ id: "pln_1" }],
    });
  });

  it("shows a table for each kind of record that there is", async () => {
    const { code, stdout } = await run(`export ${EMAIL}`);
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "Audit log: what the person did, and what was done to the person",
      "TIME (UTC)        BRAND  BY      ACTION      SUBJECT  FROM         REQUEST",
      "2026-11-21 08:30  brd_1  person  key.create  key_1    203.0.113.7  r-1",
      "2026-11-21 08:30  brd_1  person  key.create  key_1    203.0.113.7  r-1",
      "",
      "Plans that the person closed, or edited last",
      "ID     BRAND  STATUS     CLOSED (UTC)      BY THE PERSON  EDITED (UTC)  BY THE PERSON",
      "pln_1  brd_1  completed  2026-11-21 09:00  yes            -             no",
      "",
    ]);
  });

  it("says that nothing is kept, and exits with 1", async () => {
    expect(await run("export lia@ulap.example")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("Nothing is kept about lia@ulap.example."),
    });
  });
});

it.each(["export notmail", "erase notmail --yes"])("%s: what is no e-mail address exits with 2", async (line) => {
  expect(await run(line)).toMatchObject({ code: 2, stderr: expect.stringContaining("notmail is not") });
});

describe("brandctl members erase", () => {
  it("erases in every service with one pseudonym, and then nothing is kept", async () => {
    const { code, json } = await run(`erase ${EMAIL} --yes --json`);
    expect([code, json()]).toEqual([0, { erased: { email: EMAIL, pseudonym: accounts.pseudonym, brand_ids: ["brd_1"] } }]);
    expect(plans.plans.map(({ closed_by }) => closed_by)).toEqual([accounts.pseudonym, null]);
    const repeated = await run(`erase ${EMAIL} --yes`);
    expect([repeated.code, repeated.stderr]).toEqual([1, expect.stringContaining("Nothing is kept about")]);
    expect(repeated.stderr).toContain("An address that was erased is not known any more");
  });

  it("says what it waits for, and then erases what plans wrote meanwhile", async () => {
    plans.afterErasure = () => {
      if (plans.plans.length === 2) plans.plans.push(planOf({ id: "pln_late", status: "cancelled", closed_by: EMAIL }));
    };
    const { stderr, code } = await run(`erase ${EMAIL} --yes`);
    expect([code, stderr]).toEqual([0, expect.stringContaining("s for requests from before the person's removal to end")]);
    expect(plans.plans.map(({ closed_by }) => closed_by)).toEqual([accounts.pseudonym, null, accounts.pseudonym]);
  });

  it("succeeds when another command finishes the same erasure first", async () => {
    accounts.beforeErasure = async () => {
      accounts.exported.delete(EMAIL);
      accounts.erasing.delete(EMAIL);
    };
    accounts.failErasure = new AppError("not_found", "No erasure of this person has begun, or it has ended.", { field: "email" });
    const { code, stdout, stderr } = await run(`erase ${EMAIL} --yes`);
    expect([code, stdout]).toEqual([0, `${EMAIL} is erased. In its place is ${accounts.pseudonym}.\n`]);
    expect(stderr).toContain("Another command, at the same time, finished this erasure.");
  });

  it("erases nothing after the wait, if another command has finished the erasure during it", async () => {
    plans.afterErasure = () => {
      accounts.exported.delete(EMAIL);
      accounts.erasing.delete(EMAIL);
    };
    const { code, stderr } = await run(`erase ${EMAIL} --yes`);
    expect([code, stderr]).toEqual([0, expect.stringContaining("Another command, at the same time, finished this erasure.")]);
  });

  it.each([
    [
      "added to a brand",
      "still_a_member",
      [{ brand_id: "brd_1", brand_name: "Ulap", role: "member", created_at: "2026-11-21T08:30:00.000Z" }],
    ],
    ["added, and removed again", "request_conflict", []],
  ])("leaves the plans of a person who was %s during the wait", async (_, kind, memberships) => {
    plans.afterErasure = () => {
      accounts.erasing.delete(EMAIL);
      accounts.exported.set(EMAIL, [{ memberships, audit_entries: [entry("aud_3")] }]);
      plans.plans.push(planOf({ id: "pln_new", status: "cancelled", closed_by: EMAIL }));
    };
    const { code, stderr } = await run(`erase ${EMAIL} --yes --json`);
    expect([code, stderr]).toEqual([1, expect.stringContaining(kind)]);
    expect(plans.plans.map(({ closed_by }) => closed_by)).toEqual([accounts.pseudonym, null, EMAIL]);
  });

  it("does not call a person erased of whom something is kept", async () => {
    accounts.failErasure = new AppError("not_found", "No erasure of this person has begun, or it has ended.", { field: "email" });
    expect((await run(`erase ${EMAIL} --yes`)).code).toBe(1);
  });

  it.each([0, 1])("says that it has begun and how to continue, if plans is unavailable after %i calls", async (calls) => {
    for (let call = 0; call < calls; call += 1) plans.failErasures.push(undefined);
    // Calls that can be repeated are repeated once.
    const unavailable = new AppError("unavailable", "plans cannot be reached");
    plans.failErasures.push(unavailable, unavailable, unavailable, unavailable);
    const { code, stderr } = await run(`erase ${EMAIL} --yes`);
    expect([code, stderr]).toEqual([1, expect.stringContaining("The erasure has begun and is not finished.")]);
    expect(stderr).toContain(`to continue: brandctl members erase ${EMAIL}`);
    plans.failErasures.splice(0);
    expect((await run(`erase ${EMAIL} --yes`)).code).toBe(0);
  });

  it("names the brands of a member, and erases nothing", async () => {
    const memberships = [{ brand_id: "brd_1", brand_name: "Ulap", role: "owner", created_at: "2026-11-21T08:30:00.000Z" }];
    accounts.exported.set(EMAIL, [{ memberships }]);
    const { code, stderr } = await run(`erase ${EMAIL} --yes`);
    expect([code, plans.plans[0]?.closed_by]).toEqual([1, EMAIL]);
    expect(stderr).toContain(`${EMAIL} is a member of Ulap (brd_1). Nothing was erased.`);
    expect(stderr).toContain(`brandctl members remove ${EMAIL} --brand brd_1`);
  });

  it("asks first: without a terminal it needs --yes", async () => {
    expect(await run(`erase ${EMAIL}`)).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes") });
    expect(plans.plans[0]?.closed_by).toBe(EMAIL);
  });

  it("finishes when it is repeated after a service failed half way", async () => {
    accounts.failErasure = new AppError("timeout", "The request took too long.");
    expect((await run(`erase ${EMAIL} --yes`)).code).toBe(1);
    expect(plans.plans[0]?.closed_by).toBe(accounts.pseudonym);
    accounts.failErasure = undefined;
    expect((await run(`erase ${EMAIL} --yes`)).code).toBe(0);
    expect((await run(`export ${EMAIL}`)).code).toBe(1);
  });
});
