import type { Receiver } from "@brand-records/proto/webhook/v1";
import { addDelivery } from "../../services/webhook/test/add-delivery.ts";
import { addPlan, context, startProduct, type TestBrand } from "../test/product.ts";
import { failing, type Outcome } from "../test/test-terminal.ts";

describe("the brand of a command", () => {
  const product = startProduct();
  const run = (line: string, env: NodeJS.ProcessEnv = {}): Promise<Outcome> => product.run(line, { env: { ...product.env, ...env } });

  /** A command that calls a service, or looks for its address, fails with exit code 1. */
  const NO_SERVICE = { ACCOUNTS_ADDRESS: "", PLANS_ADDRESS: "", WEBHOOK_ADDRESS: "" };

  type Ids = Readonly<Record<"KEY" | "PLN" | "RCV" | "DLV", string>>;
  const withIds = (line: string, ids: Ids): string => line.replace(/\b[A-Z]{3}\b/g, (word) => ids[word as keyof Ids]);
  const NO_SUCH: Ids = { KEY: "key_1", PLN: "pln_1", RCV: "rcv_1", DLV: "dlv_1" };

  /** Gives a brand what BY_ID names. */
  async function addAll({ id: brand_id }: TestBrand): Promise<Ids> {
    const { key } = (await run(`keys create --brand ${brand_id} --name Reporting --json`)).json<{ key: { id: string } }>();
    const request = { brand_id, url: "https://hooks.ulap.example/", label: "L", events: ["payout.paid"] };
    const receiver = (await product.receivers.createReceiver(request, context())).receiver as Receiver;
    const delivery = await addDelivery(product.db, receiver, { at: new Date().toISOString() });
    return { KEY: key.id, PLN: await addPlan(product.db, brand_id), RCV: receiver.id, DLV: delivery.id };
  }

  /** Commands that name their object by an id: the id says the brand. */
  const BY_ID = [
    "keys revoke KEY",
    "plans show PLN",
    "receivers update RCV --label L",
    "receivers enable RCV --drop",
    "receivers disable RCV",
    "receivers rotate RCV",
    "receivers test RCV",
    "receivers show RCV",
    "receivers delete RCV --yes",
    "deliveries list --receiver RCV",
    "deliveries show DLV",
    "deliveries replay DLV",
    "deliveries replay --receiver RCV --since 2026-11-21T00:00:00Z",
  ];

  it.each(BY_ID)("is found by the id, whatever BRAND is; if --brand contradicts the id, nothing is found or changed: %s", async (line) => {
    const [ids, other] = [await addAll(await product.createBrand()), await product.createBrand()];
    const state = async () => [(await run(`keys show ${ids.KEY}`)).stdout, (await run(`receivers show ${ids.RCV} --json`)).stdout];
    const before = await state();
    const { code, stdout, stderr } = await run(`${withIds(line, ids)} --brand ${other.id} --json`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "not_found",
        message: expect.stringMatching(new RegExp(`^The brand ${other.id} has no (key|plan|receiver|delivery) with this id$`)),
        field: expect.stringMatching(/^(key|plan|receiver|delivery)_id$/),
        hint: expect.stringContaining("only that brand's"),
      },
    });
    expect(await state()).toEqual(before);
    expect(await run(`${withIds(line, ids)} --json`, { BRAND: other.id })).toMatchObject({ code: 0, stderr: "" });
  });

  it.each([
    ["keys revoke key_9", "There is no key with this id", "brandctl keys list --brand BRAND"],
    ["plans show pln_9", "There is no plan with this id", "brandctl plans list --brand BRAND"],
    ["receivers test rcv_9", "There is no receiver with this id", "brandctl receivers list --brand BRAND"],
    ["deliveries show dlv_9", "There is no delivery with this id", "brandctl deliveries list --receiver RECEIVER"],
  ])("is not found for an unknown id: %s", async (line, message, hint) => {
    expect(await run(line)).toMatchObject(failing(1, `error: ${message}\n${hint}`));
  });

  it.each([
    ["receivers test dlv_1", "The id of a receiver must be rcv_", "delivery"],
    ["receivers test dlv_1 --brand brd_1", "The id of a receiver must be rcv_", "delivery"],
    ["plans show brd_1", "The id of a plan must be pln_", "brand"],
    ["keys revoke sub_1", "The id of a key must be key_", "submission"],
    ["deliveries list --receiver dlv_1", "--receiver must be rcv_", "delivery"],
    ["brands set-tier rcv_1 plus", "The id of a brand must be brd_", "receiver"],
    ["brands verify key_1", "The id of a brand must be brd_", "key"],
    ["brands create --name N --tier plus --id pln_1", "--id must be brd_", "plan"],
    ["receivers test rcv_1 --brand rcv_1", "--brand must be brd_", "receiver"],
    ["members list --brand key_1", "--brand must be brd_", "key"],
  ])("is not looked up for an id of another kind: %s", async (line, rule, kind) => {
    const id = line
      .replace(/ (plus|--brand brd_1)$/, "")
      .split(" ")
      .at(-1);
    expect(await run(line, NO_SERVICE)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: `error: ${rule} and 1 to 40 lower-case letters or digits; ${id} is not.\nIt is the id of a ${kind}.\n`,
    });
  });

  it.each([
    ["receivers test ", "The id of a receiver"],
    ["keys revoke ", "The id of a key"],
    ["plans show ", "The id of a plan"],
    ["deliveries show ", "The id of a delivery"],
    ["deliveries replay ", "The id of a delivery"],
    ["brands verify ", "The id of a brand"],
    ["deliveries list --receiver ", "--receiver"],
    ["deliveries replay --since 2026-11-21T00:00:00Z --receiver ", "--receiver"],
    ["members add --brand brd_1 ", "The e-mail address"],
    ["brands create --tier plus --name ", "--name"],
    ["keys create --brand brd_1 --name ", "--name"],
    ["receivers update rcv_1 --label ", "--label"],
  ])("is not looked up for an empty value: %j", async (line, name) => {
    expect(await run(line, NO_SERVICE)).toMatchObject({ code: 2, stdout: "", stderr: `error: ${name} must not be empty.\n` });
  });

  /** Commands that need a brand and name no id that says it. */
  const BY_BRAND = ["members list", "keys list", "plans list", "receivers list", "events list"];

  it.each(BY_BRAND)("is --brand, else BRAND: %s", async (line) => {
    const { id } = await product.createBrand();
    expect((await run(`${line} --brand ${id}`, { BRAND: "brd_9" })).code).toBe(0);
    expect((await run(line, { BRAND: id })).stdout).toBe((await run(`${line} --brand ${id}`)).stdout);
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
    "listen",
  ])("is missed, with what to do: %s", async (line) => {
    for (const env of [{}, { BRAND: "" }]) {
      expect(await run(line, env)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: "error: The brand is missing: name it with --brand, or set BRAND.\nbrandctl brands list shows the brands\n",
      });
    }
  });

  const RULE = "must be brd_ and 1 to 40 lower-case letters or digits; nonsense is not.\nbrandctl brands list shows the brands\n";
  const OTHERS = [CREATE, "records generate --import", "records import --resource links -", "listen"];

  it.each([...BY_BRAND, ...BY_ID, ...OTHERS, "records set-status submission sub_1 approved", "listen"])(
    "must be an id, and not empty, as from an unset variable of a script, whatever BRAND is; checked before any call: %s",
    async (named) => {
      const line = withIds(named, NO_SUCH);
      const refused = { code: 2, stdout: "" };
      const empty = await run(`${line} --brand=`, { ...NO_SERVICE, BRAND: "brd_1" });
      expect(empty).toMatchObject({ ...refused, stderr: "error: --brand must not be empty.\n" });
      expect(await run(`${line} --brand nonsense`, NO_SERVICE)).toMatchObject({ ...refused, stderr: `error: --brand ${RULE}` });
    },
  );

  it.each([...BY_BRAND, ...OTHERS])("must be an id in BRAND too: %s", async (line) => {
    const outcome = await run(line, { ...NO_SERVICE, BRAND: "nonsense" });
    expect(outcome).toMatchObject({ code: 2, stdout: "", stderr: `error: BRAND ${RULE}` });
  });
});
