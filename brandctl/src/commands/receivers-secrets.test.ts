import { NEXT_SECRET, receiverOf } from "../../test/fake-webhook.ts";
import { serveReceivers } from "../../test/serve-receivers.ts";

const { fake, run } = serveReceivers();

describe("rotate and activate", () => {
  beforeEach(() => void fake.receivers.push(receiverOf()));

  it("rotate writes the next secret alone to standard output, and names the next commands", async () => {
    const { code, stdout, stderr } = await run("receivers rotate rcv_1 --brand brd_1");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${NEXT_SECRET}\n` });
    expect(stderr).toContain("enabled, rotating");
    expect(stderr).toContain("brandctl receivers test rcv_1 --next");
    expect(stderr).toContain("brandctl receivers activate rcv_1");
  });

  it.each([
    [null, ""],
    ["2026-11-21T08:41:00.000Z", ", accepted 2026-11-21 08:41:00 UTC"],
  ])("rotate replaces a next secret (accepted: %s) only with --replace", async (next_secret_accepted_at, accepted) => {
    const rotating = receiverOf({ rotating: true, next_secret_at: "2026-11-21T08:39:00.000Z", next_secret_accepted_at });
    fake.receivers.splice(0, 1, { ...rotating });
    const outcome = await run("receivers rotate rcv_1 --brand brd_1");
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toContain(
      `error: The receiver has a next secret already, made 2026-11-21 08:39:00 UTC${accepted}. ` +
        "Rotating again replaces it for good: what has that secret alone then refuses deliveries.\n",
    );
    expect(outcome.stderr).toContain("brandctl receivers activate rcv_1 makes it the current one");
    expect(outcome.stderr).toContain("brandctl receivers rotate rcv_1 --replace replaces it");
    expect(fake.receivers).toEqual([rotating]);
    const replaced = await run("receivers rotate rcv_1 --brand brd_1 --replace --json");
    expect(replaced.json()).toMatchObject({ id: "rcv_1", secret: NEXT_SECRET });
    expect(fake.receivers).toMatchObject([{ next_secret_at: "2026-11-21T08:40:00.000Z", next_secret_accepted_at: null }]);
  });

  it("rotate replaces no next secret that was made since it looked", async () => {
    fake.rotatedMeanwhile = { rotating: true, next_secret_at: "2026-11-21T08:39:00.000Z" };
    const outcome = await run("receivers rotate rcv_1 --brand brd_1 --json");
    fake.rotatedMeanwhile = {};
    expect(outcome).toMatchObject({ code: 1, stdout: "" });
    expect(outcome.stderr).toContain('"code":"next_secret_exists"');
    expect(outcome.stderr).toContain("made 2026-11-21 08:39:00 UTC");
    expect(fake.receivers).toMatchObject([{ next_secret_at: "2026-11-21T08:39:00.000Z" }]);
  });

  it("activate ends the rotation once a test by the next secret was accepted, and gives a hint before", async () => {
    await run("receivers rotate rcv_1 --brand brd_1");
    expect(await run("receivers activate rcv_1 --brand brd_1")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "brandctl receivers test rcv_1 --next sends such a test; brandctl receivers activate rcv_1 --force activates without one",
      ),
    });
    Object.assign(fake.receivers[0] ?? {}, { next_secret_accepted_at: "2026-11-21T08:41:00.000Z" });
    expect((await run("receivers activate rcv_1 --brand brd_1 --json")).json()).toEqual({ receiver: receiverOf() });
  });

  it("activate --force needs no test", async () => {
    await run("receivers rotate rcv_1 --brand brd_1");
    expect((await run("receivers activate rcv_1 --brand brd_1 --force --json")).json()).toEqual({ receiver: receiverOf() });
  });

  it("activate and test --next give a hint without a next secret", async () => {
    for (const line of ["activate rcv_1 --force", "test rcv_1 --next"]) {
      expect(await run(`receivers ${line} --brand brd_1`)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("brandctl receivers rotate rcv_1 makes one"),
      });
    }
  });
});
