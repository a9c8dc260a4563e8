import type { Receiver } from "@brand-records/proto/webhook/v1";
import { receiverOf } from "../../test/fake-webhook.ts";
import { serveReceivers } from "../../test/serve-receivers.ts";

const { fake, run } = serveReceivers();

describe("update", () => {
  it("changes what is given, and leaves the rest", async () => {
    fake.receivers.push(receiverOf());
    const { receiver } = (await run("receivers update rcv_1 --brand brd_1 --label Books --json")).json<{ receiver: Receiver }>();
    expect(receiver).toEqual(receiverOf({ label: "Books" }));
    await run("receivers update rcv_1 --brand brd_1 --url https://new.example/ --events campaign.settled");
    expect(fake.receivers).toEqual([receiverOf({ label: "Books", url: "https://new.example/", events: ["campaign.settled"] })]);
  });

  it("is refused when nothing is given", async () => {
    expect(await run("receivers update rcv_1 --brand brd_1")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Nothing to change"),
    });
  });
});

describe("update --max-in-flight", () => {
  it("sets it alone", async () => {
    fake.receivers.push(receiverOf());
    expect((await run("receivers update rcv_1 --brand brd_1 --max-in-flight 1 --json")).code).toBe(0);
    expect(fake.receivers).toEqual([receiverOf({ max_in_flight: 1 })]);
  });

  it.each(["0", "65", "-1", "1.5", "x"])("refuses %s", async (count) => {
    expect(await run(`receivers update rcv_1 --brand brd_1 --max-in-flight ${count}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("from 1 to 64"),
    });
  });
});
