import type { UpdateReceiverRequest } from "@brand-records/proto/webhook/v1";
import { keyOf, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";

const served = useReceivers();

type Change = Partial<Pick<UpdateReceiverRequest, "url" | "label" | "events" | "max_in_flight">>;

const update = async (brand_id: string, receiver_id: string, change: Change) =>
  present((await served.receivers.updateReceiver({ brand_id, receiver_id, events: [], ...change })).receiver);

it.each<[string, Change, object]>([
  ["the URL", { url: "https://New.brand.example/x" }, { url: "https://new.brand.example/x" }],
  ["the label", { label: " New 😀" }, { label: "New 😀" }],
  ["concurrent attempts", { max_in_flight: 1 }, { max_in_flight: 1 }],
  ["the event types", { events: ["campaign.settled"] }, { events: ["campaign.settled"] }],
  [
    "everything",
    { url: "https://all.brand.example/", label: "All", events: ["payout.paid"] },
    { url: "https://all.brand.example/", label: "All", events: ["payout.paid"] },
  ],
])("changes %s and nothing else", async (_, change, changed) => {
  const receiver = await served.create(newBrand());
  const bystander = await served.create(receiver.brand_id);
  const now = await update(receiver.brand_id, receiver.id, change);
  expect(now).toEqual({ ...receiver, ...changed, updated_at: now.updated_at });
  expect(now.updated_at >= receiver.updated_at).toBe(true);
  expect(await served.get(receiver)).toEqual(now);
  expect(await served.get(bystander)).toEqual(bystander);
});

it("changes nothing, not even updated_at, if nothing is given", async () => {
  const receiver = await served.create(newBrand());
  expect(await update(receiver.brand_id, receiver.id, {})).toEqual(receiver);
});

it("keeps secret, state and pending deliveries", async () => {
  const receiver = await served.create(newBrand());
  const secret = () => served.db.query("select secret, secret_key_id from webhook.receivers where id = $1", [receiver.id]);
  const before = await secret();
  await served.addDeliveries(receiver, 3);
  await served.receivers.disableReceiver(keyOf(receiver));
  expect(await update(receiver.brand_id, receiver.id, { url: "https://moved.brand.example/" })).toMatchObject({
    enabled: false,
    disabled_reason: "member",
    waiting: 3,
  });
  expect(await secret()).toEqual(before);
});

it.each<[Change, string, string]>([
  [{ url: "http://hooks.brand.example/" }, "not_https", "url"],
  [{ url: "" }, "invalid_request", "url"],
  [{ label: "" }, "invalid_request", "label"],
  [{ max_in_flight: 0 }, "invalid_request", "max_in_flight"],
  [{ max_in_flight: 65 }, "invalid_request", "max_in_flight"],
  [{ events: ["ping"] }, "invalid_request", "events.0"],
  [{ url: "http://hooks.brand.example/", label: "" }, "invalid_request", "url"],
])("refuses %j as %s, and changes nothing", async (change, kind, field) => {
  const receiver = await served.create(newBrand());
  await expect(update(receiver.brand_id, receiver.id, { label: "Other", ...change })).rejects.toMatchObject({ kind, field });
  expect(await served.get(receiver)).toEqual(receiver);
});

it("refuses the URL of the brand's other receivers, and accepts its own and another brand's", async () => {
  const brand = newBrand();
  const [one, two, theirs] = [await served.create(brand), await served.create(brand), await served.create(newBrand())];
  await expect(update(brand, one.id, { url: two.url })).rejects.toMatchObject({ kind: "duplicate_url", field: "url" });
  expect(await update(brand, one.id, { url: one.url })).toMatchObject({ url: one.url });
  expect(await update(brand, one.id, { url: theirs.url })).toMatchObject({ url: theirs.url });
});

it("gives a URL to one of ten receivers that claim it concurrently", async () => {
  const brand = newBrand();
  const receivers = await Promise.all(Array.from({ length: 10 }, () => served.create(brand)));
  const outcomes = await Promise.allSettled(receivers.map(({ id }) => update(brand, id, { url: "https://one.brand.example/" })));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes) if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "duplicate_url" });
});

describe("another brand's receiver", () => {
  const calls = (brand_id: string, receiver_id: string) => {
    const key = { brand_id, receiver_id };
    const { receivers } = served;
    return {
      get: () => receivers.getReceiver(key),
      update: () => receivers.updateReceiver({ ...key, label: "Mine", events: [] }),
      "update nothing": () => receivers.updateReceiver({ ...key, events: [] }),
      disable: () => receivers.disableReceiver(key),
      "enable and release": () => receivers.enableReceiver({ ...key, held: "release" }),
      "enable and drop": () => receivers.enableReceiver({ ...key, held: "drop" }),
      "send what waits": () => receivers.sendWaiting({ ...key, all: true }),
      test: () => receivers.sendTest({ ...key, next: false }),
      rotate: () => receivers.rotateSecret(key),
      "rotate unless it rotates": () => receivers.rotateSecret({ ...key, replace: false }),
      activate: () => receivers.activateSecret({ ...key, force: true }),
      delete: () => receivers.deleteReceiver(key),
    };
  };

  it("is not_found in every call, like an unknown one, and stays unchanged", async () => {
    const stranger = newBrand();
    await served.create(stranger);
    const receiver = await served.create(newBrand());
    const held = await served.create(receiver.brand_id);
    await served.addDeliveries(receiver, 2);
    await served.addDeliveries(held, 2);
    await served.receivers.disableReceiver(keyOf(held));
    const before = [await served.get(receiver), await served.get(held)];
    for (const id of [receiver.id, held.id]) {
      const [foreign, unknown] = [calls(stranger, id), calls(stranger, "rcv_unknown")];
      for (const name of Object.keys(foreign) as (keyof typeof foreign)[]) {
        const refusals = await Promise.all(
          [foreign[name](), unknown[name]()].map((call) =>
            call.then(
              () => name,
              ({ kind, message, field, details }) => ({ kind, message, field, details }),
            ),
          ),
        );
        expect(refusals[0]).toMatchObject({ kind: "not_found", field: "receiver_id" });
        expect(refusals[0]).toEqual(refusals[1]);
      }
    }
    expect([await served.get(receiver), await served.get(held)]).toEqual(before);
    expect((await served.receivers.listReceivers({ brand_id: stranger })).receivers).toHaveLength(1);
  });

  it.each(["", "rcv_A", "brd_1"])("or %j, which is not an id, is refused in every call", async (id) => {
    for (const call of Object.values(calls(newBrand(), id))) {
      await expect(call()).rejects.toMatchObject({ kind: "invalid_request", field: "receiver_id" });
    }
  });
});

it("lowers the lane's cap with the limit immediately, and does not raise it", async () => {
  const receiver = await served.create(newBrand());
  const cap = async () =>
    present(
      (await served.db.query<{ cap: number }>("select max_in_flight as cap from webhook.lanes where receiver_id = $1", [receiver.id]))[0],
    ).cap;
  expect(await cap()).toBe(8);
  await update(receiver.brand_id, receiver.id, { max_in_flight: 3 });
  expect(await cap()).toBe(3);
  await update(receiver.brand_id, receiver.id, { max_in_flight: 64 });
  expect(await cap()).toBe(3);
});

it("refuses a change of the limit together with an invalid change", async () => {
  const brand = newBrand();
  const [one, two] = [await served.create(brand), await served.create(brand)];
  await expect(update(brand, one.id, { url: two.url, max_in_flight: 2 })).rejects.toMatchObject({ kind: "duplicate_url" });
  await expect(update(newBrand(), one.id, { max_in_flight: 2 })).rejects.toMatchObject({ kind: "not_found" });
  expect(await served.get(one)).toEqual(one);
});
