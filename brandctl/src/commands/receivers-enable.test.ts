import { receiverOf } from "../../test/fake-webhook.ts";
import { serveReceivers } from "../../test/serve-receivers.ts";

const { fake, run } = serveReceivers();

describe("test", () => {
  it("queues a delivery, and names the command that shows it", async () => {
    fake.receivers.push(receiverOf());
    const { stdout, stderr } = await run("receivers test rcv_1 --brand brd_1");
    expect(stdout).toBe("dlv_test is queued.\n");
    expect(stderr).toContain("brandctl deliveries show dlv_test\n");
    const outcome = await run("receivers test rcv_1 --brand brd_1 --type payout.paid --json");
    expect(outcome.json()).toEqual({ delivery_id: "dlv_test", event_id: "evt_1" });
  });

  it("--next queues one that is signed with the next secret, and deliveries list shows it", async () => {
    fake.receivers.push(receiverOf({ rotating: true }));
    fake.deliveries.splice(0);
    await run("receivers test rcv_1 --brand brd_1");
    await run("receivers test rcv_1 --brand brd_1 --next");
    expect(fake.deliveries.map(({ sign_with_next }) => sign_with_next)).toEqual([true, false]);
    const { stdout } = await run("deliveries list --receiver rcv_1 --brand brd_1");
    expect(stdout).toMatch(/payout\.paid next .*\n.*payout\.paid test  /);
  });

  it("says that the receiver is paused", async () => {
    fake.receivers.push(receiverOf({ paused_until: "2026-11-21T02:03:10.123Z", failures_in_a_row: 10 }));
    expect((await run("receivers test rcv_1 --brand brd_1")).stderr).toContain(
      "The receiver is paused until 02:03:10 UTC after 10 failures.\n",
    );
    expect((await run("receivers test rcv_1 --brand brd_1 --json")).stderr).toBe("");
  });

  it("gives a hint about a disabled receiver, and knows no other event types", async () => {
    fake.receivers.push(receiverOf({ enabled: false }));
    expect(await run("receivers test rcv_1 --brand brd_1")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("brandctl receivers enable rcv_1 --release"),
    });
    expect((await run("receivers test rcv_1 --brand brd_1 --type ping")).code).toBe(2);
  });
});

describe("disable and enable", () => {
  it("fails if the receiver was disabled again meanwhile", async () => {
    fake.receivers.push(receiverOf({ enabled: false, waiting: 3 }));
    fake.disabledMeanwhile = true;
    const { code, stderr } = await run("receivers enable rcv_1 --brand brd_1 --drop");
    fake.disabledMeanwhile = false;
    expect([code, stderr]).toEqual([1, expect.stringContaining("disabled again meanwhile, and stays so")]);
  });

  const held = (): void => void fake.receivers.push(receiverOf({ enabled: false, disabled_reason: "member", waiting: 3 }));

  it("disable holds the receiver's deliveries", async () => {
    fake.receivers.push(receiverOf({ waiting: 3 }));
    expect(await run("receivers disable rcv_1 --brand brd_1")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("disabled 2026-11-21 08:40:00 UTC (member)"),
    });
    expect(fake.receivers).toMatchObject([{ enabled: false, waiting: 3 }]);
  });

  it.each([
    ["--release", 0, 3],
    ["--drop", 3, 0],
  ])("enable %s drops %i and leaves %i", async (option, dropped, waiting) => {
    held();
    const outcome = await run(`receivers enable rcv_1 --brand brd_1 ${option} --json`);
    expect(outcome.json()).toMatchObject({ receiver: { enabled: true, waiting }, dropped });
  });

  it("enable prints the number of deliveries it dropped", async () => {
    held();
    expect((await run("receivers enable rcv_1 --brand brd_1 --drop")).stderr).toContain("3 deliveries dropped.");
  });

  it("enable --release says nothing beside the receiver", async () => {
    held();
    expect((await run("receivers enable rcv_1 --brand brd_1 --release")).stderr).toBe("");
  });

  it.each(["--release", "--drop"])("enable %s of an enabled receiver says that nothing changed", async (option) => {
    fake.receivers.push(receiverOf({ waiting: 3 }));
    const { code, stdout, stderr } = await run(`receivers enable rcv_1 --brand brd_1 ${option}`);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringContaining("rcv_1  enabled"),
      stderr: "The receiver was enabled already: nothing changed, and nothing was dropped.\n",
    });
    expect((await run(`receivers enable rcv_1 --brand brd_1 ${option} --json`)).json()).toEqual({
      receiver: receiverOf({ waiting: 3 }),
      dropped: 0,
    });
  });

  it.each(["", " --release --drop"])("enable%s is refused: it needs one of the two", async (options) => {
    held();
    expect(await run(`receivers enable rcv_1 --brand brd_1${options}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--release sends them, --drop drops them permanently"),
    });
    expect(fake.receivers).toMatchObject([{ enabled: false, waiting: 3 }]);
  });
});
