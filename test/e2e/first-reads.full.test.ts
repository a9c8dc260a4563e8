import { FIRST_READS_ID, type FirstRead } from "@brand-records/console-contract/protocol";
import { openPool, type Database } from "@brand-records/postgres";
import { eventually } from "@brand-records/testkit";
import { signIn, type ConsoleCaller } from "../console-calls.ts";
import { callContext, startStack, type Stack, type TestBrand } from "../stack.ts";

/** One promise: a page comes with what its script would read first, for whom it may be read, and as far as that takes a second. */

let stack: Stack;
let db: Database;
let url: string;
let first: TestBrand;
let second: TestBrand;
let owner: ConsoleCaller;

beforeAll(async () => {
  // What webhook does for a person needs that person's grant, as it does where certificates say who calls.
  const webhook = { RECEIVERS_ON_LOOPBACK: "true", RPC_OPERATOR_WITHOUT_TLS: "false" };
  stack = await startStack({ hasConsole: true, envOf: { webhook } });
  db = openPool({ url: stack.databaseUrl, applicationName: "platform" });
  url = stack.gateways[0].console?.url ?? "";
  [first, second] = [await stack.createBrand(), await stack.createBrand()];
  await stack.accounts.addMember({ brand_id: second.id, email: first.owner, role: "owner" }, callContext());
  owner = await signIn(stack, url, first.owner);
});
afterAll(async () => {
  await db?.stop();
  await stack?.stop();
});

/** Returns the operations whose answers a page comes with. */
async function readsOf(path: string, cookie: string): Promise<string[]> {
  const page = await (await fetch(url + path, { headers: { cookie } })).text();
  const block = new RegExp(`id="${FIRST_READS_ID}"[^>]*>([^<]*)<`).exec(page)?.[1] ?? "[]";
  return (JSON.parse(block) as readonly FirstRead[]).map(({ name }) => name).toSorted();
}

it("a record's page of any of the person's brands comes with the record, whichever brand the browser showed last", async () => {
  for (const { id: brand_id } of [first, second]) {
    const settings = { url: "http://127.0.0.1:9/", label: "Warehouse", events: ["payout.paid"] };
    const { receiver } = await owner.call("receivers.create", { brand_id, ...settings });
    await eventually(async () =>
      expect(await readsOf(`/developers/receivers/${receiver.id}`, owner.cookie)).toEqual([
        "deliveries.list",
        "deliveries.stats",
        "receivers.get",
        "receivers.list",
        "session.locate",
        "session.me",
      ]),
    );
  }
});

it("a page comes with what could be read in a second, without what takes longer", async () => {
  const others = ["receivers.list", "session.me"];
  await eventually(async () =>
    expect(await readsOf("/developers/requests/failed", owner.cookie)).toEqual(["requests.failed", ...others].toSorted()),
  );
  await db.transaction(async (sql) => {
    await sql.query("lock table accounts.failed_requests in access exclusive mode");
    await eventually(async () => expect(await readsOf("/developers/requests/failed", owner.cookie)).toEqual(others));
  });
});
