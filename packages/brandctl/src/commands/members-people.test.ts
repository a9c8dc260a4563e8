import { AppError } from "@brand-records/errors";
import { FakeAccounts } from "../testing/fake-accounts.ts";
import { FakePlans, planOf } from "../testing/fake-plans.ts";
import { serve, type Served } from "../testing/serve.ts";
import { brandctl, type Outcome } from "../testing/test-terminal.ts";

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

describe("brandctl members erase", () => {
  it("erases in every service with one pseudonym, and then nothing is kept", async () => {
    const { code, json } = await run(`erase ${EMAIL} --yes --json`);
    expect([code, json()]).toEqual([0, { erased: { email: EMAIL, pseudonym: accounts.pseudonym, brand_ids: ["brd_1"] } }]);
    expect(plans.plans.map(({ closed_by }) => closed_by)).toEqual([accounts.pseudonym, null]);
    expect((await run(`erase ${EMAIL} --yes`)).stderr).toContain("Nothing is kept about");
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
