import { receiverOf } from "../../test/fake-webhook.ts";
import { serveReceivers } from "../../test/serve-receivers.ts";
import { serve } from "../../test/serve.ts";
import { CTRL_C, CTRL_D, pressing, typing } from "../../test/test-terminal.ts";

const { fake, run } = serveReceivers();

describe("delete", () => {
  beforeEach(() => void fake.receivers.push(receiverOf({ waiting: 3 })));

  it.each(["y", "YES", " yes "])("asks, and deletes at %j", async (reply) => {
    const { code, stdout, stderr } = await run("receivers delete rcv_1 --brand brd_1", typing(reply));
    expect(stderr).toContain('Permanently delete rcv_1, "Ledger" at https://hooks.ulap.example/events…, with 3 waiting deliveries? [y/N]');
    expect({ code, stdout }).toEqual({ code: 0, stdout: "rcv_1 is deleted, and 3 waiting deliveries with it.\n" });
    expect(fake.receivers).toEqual([]);
  });

  it.each(["", "n", "no", "yep", "rcv_1"])("deletes nothing at %j", async (reply) => {
    expect(await run("receivers delete rcv_1 --brand brd_1", typing(reply))).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("Nothing was deleted."),
    });
    expect(fake.receivers).toHaveLength(1);
  });

  it.each([
    [CTRL_C, 130],
    [CTRL_D, 1],
  ])("deletes nothing at the key %j", async (key, code) => {
    expect(await run("receivers delete rcv_1 --brand brd_1", pressing(key))).toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringContaining("Nothing was deleted."),
    });
    expect(fake.receivers).toHaveLength(1);
  });

  it.each(["--yes", "-y"])("does not ask with %s", async (option) => {
    const outcome = await run(`receivers delete rcv_1 --brand brd_1 ${option} --json`);
    expect(outcome.json()).toEqual({ deleted: { brand_id: "brd_1", receiver_id: "rcv_1", dropped: 3 } });
    expect(fake.receivers).toEqual([]);
  });

  it("is refused without --yes where there is no terminal", async () => {
    for (const surroundings of [{}, { isTerminal: true }]) {
      expect(await run("receivers delete rcv_1 --brand brd_1", surroundings)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Add --yes to go on."),
      });
    }
    expect((await run("receivers delete rcv_1 --brand brd_1 --json", typing("y"))).code).toBe(2);
    expect(fake.receivers).toHaveLength(1);
  });
});

it.each([
  "show rcv_1",
  "rotate rcv_1",
  "activate rcv_1",
  "test rcv_1",
  "update rcv_1 --label x",
  "enable rcv_1 --drop",
  "disable rcv_1",
  "delete rcv_1 --yes",
])("%s gives a hint if the brand does not have the receiver", async (line) => {
  fake.receivers.push(receiverOf({ brand_id: "brd_other" }));
  const hint = "brandctl receivers list --brand BRAND shows a brand's receivers; with --brand, only that brand's are found";
  expect(await run(`receivers ${line} --brand brd_1`)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: `error: The brand brd_1 has no receiver with this id\n${hint}\n`,
  });
});

it("names the address that cannot be reached and its source, with a hint", async () => {
  const closed = await serve();
  await closed.stop();
  const { code, stderr } = await run(`receivers list --brand brd_1 --webhook-address ${closed.address}`);
  expect(code).toBe(1);
  expect(stderr).toContain(`webhook cannot be reached at ${closed.address} (--webhook-address): nothing listens there.`);
  expect((await run("receivers list --brand brd_1", { env: {} })).stderr).toContain("no --webhook-address, no WEBHOOK_ADDRESS");
});
