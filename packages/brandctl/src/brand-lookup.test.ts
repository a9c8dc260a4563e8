import { FakeAccounts } from "./testing/fake-accounts.ts";
import { FakePlans, planOf } from "./testing/fake-plans.ts";
import { serve, type Served } from "./testing/serve.ts";
import { brandctl, type Outcome } from "./testing/test-terminal.ts";
import { deliveryOf, FakeWebhook, receiverOf } from "./testing/fake-webhook.ts";

describe("the brand of a command", () => {
  let accounts: FakeAccounts;
  let plans: FakePlans;
  let webhook: FakeWebhook;
  let served: Served;
  const run = (line: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> => {
    const { address } = served;
    return brandctl(line.split(" "), { env: { ACCOUNTS_ADDRESS: address, PLANS_ADDRESS: address, WEBHOOK_ADDRESS: address, ...env } });
  };

  beforeAll(async () => {
    [accounts, plans, webhook] = [new FakeAccounts(), new FakePlans(), new FakeWebhook()];
    // Each has an OperatorService of its own package, so one server takes all three.
    served = await serve(...accounts.served, ...plans.served, ...webhook.served);
    for (const id of ["brd_1", "brd_2"]) {
      accounts.add({ id, name: id });
      accounts.members.push({ brand_id: id, email: `owner@${id}.example`, role: "owner", created_at: "2026-11-21T08:30:00.000Z" });
    }
  });
  afterAll(() => served.stop());
  beforeEach(async () => {
    accounts.keys.splice(0);
    await run("keys create --brand brd_1 --name Reporting");
    plans.plans.splice(0, Infinity, planOf({ id: "pln_1", brand_id: "brd_1" }));
    webhook.receivers.splice(0, Infinity, receiverOf({ id: "rcv_1", brand_id: "brd_1" }));
    webhook.deliveries.splice(0, Infinity, deliveryOf({ id: "dlv_1", receiver_id: "rcv_1" }));
    webhook.replays.splice(0);
  });

  /** Commands that name their object by an id: the id says the brand. */
  const BY_ID = [
    "keys revoke key_made0",
    "plans show pln_1",
    "receivers update rcv_1 --label L",
    "receivers enable rcv_1 --drop",
    "receivers disable rcv_1",
    "receivers rotate rcv_1",
    "receivers test rcv_1",
    "receivers delete rcv_1 --yes",
    "deliveries list --receiver rcv_1",
    "deliveries show dlv_1",
    "deliveries replay dlv_1",
    "deliveries replay --receiver rcv_1 --since 2026-11-21T00:00:00Z",
  ];

  it.each(BY_ID)("is found by the id: %s", async (line) => {
    expect(await run(`${line} --json`)).toMatchObject({ code: 0, stderr: "" });
  });

  it.each(BY_ID)("is not taken from BRAND where the id says it: %s", async (line) => {
    expect(await run(`${line} --json`, { BRAND: "brd_2" })).toMatchObject({ code: 0, stderr: "" });
  });

  it.each(BY_ID)("is not found when --brand contradicts the id: %s", async (line) => {
    const { code, stdout, stderr } = await run(`${line} --brand brd_2 --json`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "not_found", hint: expect.stringContaining("only that brand's") } });
    expect(accounts.keys[0]?.revoked_at).toBeUndefined();
    expect(webhook.receivers).toEqual([receiverOf({ id: "rcv_1", brand_id: "brd_1" })]);
  });

  it.each([
    ["keys revoke key_9", "There is no key with this id", "brandctl keys list --brand BRAND"],
    ["plans show pln_9", "There is no plan with this id", "brandctl plans list --brand BRAND"],
    ["receivers test rcv_9", "There is no receiver with this id", "brandctl receivers list --brand BRAND"],
    ["deliveries show dlv_9", "There is no delivery with this id", "brandctl deliveries list --receiver RECEIVER"],
  ])("is not found for an unknown id: %s", async (line, message, hint) => {
    expect(await run(line)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`error: ${message}\n${hint}`) });
  });

  it.each([
    ["receivers test dlv_1", "The id of a receiver begins with rcv_, and dlv_1 does not.\nIt is the id of a delivery.\n"],
    ["receivers test dlv_1 --brand brd_1", "The id of a receiver begins with rcv_, and dlv_1 does not.\nIt is the id of a delivery.\n"],
    ["plans show brd_1", "The id of a plan begins with pln_, and brd_1 does not.\n"],
  ])("is not looked up for an id of another kind: %s", async (line, message) => {
    expect(await run(line)).toMatchObject({ code: 1, stdout: "", stderr: `error: ${message}` });
  });

  /** Commands that need a brand and name no id that says it. */
  const BY_BRAND = ["members list", "keys list", "plans list", "receivers list", "events list"];

  it.each(BY_BRAND)("is --brand, else BRAND: %s", async (line) => {
    expect((await run(`${line} --brand brd_1`, { BRAND: "brd_9" })).code).toBe(0);
    expect((await run(line, { BRAND: "brd_1" })).stdout).toBe((await run(`${line} --brand brd_1`)).stdout);
    expect((await run(line, { BRAND: "brd_9" })).stderr).toContain("There is no brand with this id");
  });

  const CREATE = "receivers create --url https://hooks.ulap.example/in --label Ledger --events payout.paid";
  it.each([
    ...BY_BRAND,
    CREATE,
    "members add ana@ulap.example",
    "members remove ana@ulap.example",
    "keys create --name Reporting",
    "records generate --import",
    "records import --resource links -",
    "listen --create",
    `${CREATE} --brand=`,
  ])("is missed, with what to do: %s", async (line) => {
    for (const env of [{}, { BRAND: "" }]) {
      expect(await run(line, env)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: "error: The brand is missing: name it with --brand, or set BRAND.\nbrandctl brands list shows the brands\n",
      });
    }
  });

  it("does not fall back to BRAND when --brand is empty, as from an unset variable of a script", async () => {
    expect(await run("receivers list --brand=", { BRAND: "brd_1" })).toMatchObject({ code: 2, stdout: "" });
    expect(await run("receivers test rcv_1 --brand=", { BRAND: "brd_1" })).toMatchObject({ code: 2, stdout: "" });
  });
});
