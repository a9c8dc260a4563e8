import { SharedClock } from "@brand-records/lifecycle";
import { databaseTime } from "@brand-records/postgres";
import { expectRefusal, pepper, servedAccounts, type ServedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { GrantKeys } from "../domain/grant-keys.ts";

const peppers = [pepper(1)] as const;

const served = servedAccounts(() => ({ peppers }));
let brand: TestBrand;
let token: string;
let clocks: SharedClock[];
beforeAll(async () => {
  brand = await served.createBrand();
  const link = await served.signIn.createSignInLink({ email: brand.owner, ttl_seconds: 0 });
  const { session } = await served.signIn.redeemSignInLink({ token: link.token });
  token = session?.token ?? "";
});
beforeEach(() => {
  clocks = [];
});
afterEach(() => Promise.all(clocks.map((clock) => clock.stop())));

/** A process of accounts on a machine whose clock is this far ahead. */
async function onMachine(aheadSeconds: number): Promise<ServedAccounts> {
  const machine = { now: () => Date.now() + aheadSeconds * 1_000, elapsed: () => performance.now() };
  const clock = new SharedClock(() => databaseTime(served.db), machine);
  clocks.push(clock);
  await clock.measure();
  return served.alsoWith({ grantKeys: new GrantKeys(peppers, () => clock.now()) });
}

const checkAt = async (by: ServedAccounts, from: ServedAccounts) => {
  const { grants } = await from.sessions.getSession({ token, with_grants: true, brand_id: brand.id });
  return by.sessions.checkGrant({ grant: grants["webhook"] ?? "", audience: "webhook", brand_id: brand.id });
};

it.each([-600, -30, 30, 600])("processes whose machines are %s s apart take each other's grants", async (seconds) => {
  const [here, there] = [await onMachine(0), await onMachine(seconds)];
  expect(await checkAt(here, there)).toMatchObject({ email: brand.owner, role: "owner" });
  expect(await checkAt(there, here)).toMatchObject({ email: brand.owner, role: "owner" });
});

it("tells processes without a database the time", async () => {
  const { usage } = await served.alsoWith({ clock: { now: () => 1_795_507_230_000 } });
  expect(await usage.getTime({})).toEqual({ now_ms: 1_795_507_230_000 });
});

it("a process that cannot judge a grant, because it is behind, is unavailable, and ends no session", async () => {
  const behind = await served.alsoWith({ grantKeys: new GrantKeys(peppers, () => Date.now() - 30_000) });
  await expectRefusal(checkAt(behind, served), "unavailable");
});
