import type { Receiver } from "@brand-records/proto/webhook/v1";
import { openSigningSecret } from "../domain/signing-secret.ts";
import { acceptNextSecret } from "../storage/receivers.ts";
import { keyOf, newBrand, present, useReceivers } from "../../test/serve-receivers.ts";

const served = useReceivers();

const rotate = async (receiver: Receiver, replace?: boolean) => {
  const response = await served.receivers.rotateSecret({ ...keyOf(receiver), replace });
  return { receiver: present(response.receiver), secret: response.secret };
};
const activate = async (receiver: Receiver, { force = false } = {}) =>
  present((await served.receivers.activateSecret({ ...keyOf(receiver), force })).receiver);
/** Does what the result of an accepted test by the next secret does. */
const accept = async (receiver: Receiver) =>
  acceptNextSecret(served.db, { receiver_id: receiver.id, url: receiver.url, tested_secret: (await stored(receiver)).next_secret });
const rotateAndAccept = async (receiver: Receiver) => {
  const { secret } = await rotate(receiver);
  await accept(receiver);
  return secret;
};

interface Row {
  readonly secret: Buffer;
  readonly secret_key_id: number;
  readonly next_secret: Buffer | null;
  readonly next_secret_key_id: number | null;
}

const stored = async ({ id }: Receiver): Promise<Row> =>
  present(
    (
      await served.db.query<Row>("select secret, secret_key_id, next_secret, next_secret_key_id from webhook.receivers where id = $1", [id])
    )[0],
  );

const opened = (receiver: Receiver, sealed: Buffer | null, keyId: number | null): string =>
  openSigningSecret(served.deps.keys, receiver.id, { sealed: present(sealed), keyId: present(keyId) });

describe("rotating a secret", () => {
  it("returns a next secret, stores it sealed under the newest key, and keeps the active one", async () => {
    const receiver = await served.create(newBrand());
    const before = await stored(receiver);
    const { receiver: rotating, secret } = await rotate(receiver);
    const { updated_at, next_secret_at } = rotating;
    expect(rotating).toEqual({
      ...receiver,
      rotating: true,
      updated_at,
      next_secret_at: expect.any(String),
      next_secret_accepted_at: null,
    });
    expect(Date.parse(present(next_secret_at))).toBeGreaterThanOrEqual(Date.parse(receiver.created_at));
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const after = await stored(receiver);
    expect(after).toMatchObject({ secret: before.secret, secret_key_id: before.secret_key_id, next_secret_key_id: 2 });
    expect(opened(receiver, after.next_secret, after.next_secret_key_id)).toBe(secret);
    expect(after.next_secret?.includes(secret)).toBe(false);
    expect(served.logged()).not.toContain(secret.slice(6));
  });

  it.each([undefined, true])("replaces the next secret when repeated with replace: %s", async (replace) => {
    const receiver = await served.create(newBrand());
    const first = await rotate(receiver);
    const second = await rotate(receiver, replace);
    expect(second.secret).not.toBe(first.secret);
    const { next_secret, next_secret_key_id } = await stored(receiver);
    expect(opened(receiver, next_secret, next_secret_key_id)).toBe(second.secret);
  });
});

describe("rotating a secret with replace: false", () => {
  it("is refused while there is a next secret, and keeps it", async () => {
    const receiver = await served.create(newBrand());
    const { secret } = await rotate(receiver, false);
    const before = await stored(receiver);
    await expect(rotate(receiver, false)).rejects.toMatchObject({ kind: "request_conflict" });
    expect(await stored(receiver)).toEqual(before);
    await accept(receiver);
    await activate(receiver);
    expect((await rotate(receiver, false)).secret).not.toBe(secret);
  });

  it("succeeds for one of several concurrent calls, whose secret stays", async () => {
    const receiver = await served.create(newBrand());
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => rotate(receiver, false)));
    const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value.secret : []));
    expect(made).toHaveLength(1);
    const { next_secret, next_secret_key_id } = await stored(receiver);
    expect(opened(receiver, next_secret, next_secret_key_id)).toBe(made[0]);
  });
});

describe("activating a secret", () => {
  it("makes the next secret the active one, and ends the rotation", async () => {
    const receiver = await served.create(newBrand());
    const secret = await rotateAndAccept(receiver);
    const active = await activate(receiver);
    expect(active).toEqual({ ...receiver, updated_at: active.updated_at });
    const row = await stored(receiver);
    expect(row).toMatchObject({ next_secret: null, next_secret_key_id: null });
    expect(opened(receiver, row.secret, row.secret_key_id)).toBe(secret);
  });

  it("is refused without a rotation, and a second time", async () => {
    const receiver = await served.create(newBrand());
    await expect(activate(receiver)).rejects.toMatchObject({ kind: "no_next_secret" });
    await expect(activate(receiver, { force: true })).rejects.toMatchObject({ kind: "no_next_secret" });
    await rotateAndAccept(receiver);
    await activate(receiver);
    const before = await stored(receiver);
    await expect(activate(receiver)).rejects.toMatchObject({ kind: "no_next_secret" });
    expect(await stored(receiver)).toEqual(before);
  });

  it("finds no receiver that was deleted, and neither does a rotation", async () => {
    const receiver = await served.create(newBrand());
    await served.receivers.deleteReceiver(keyOf(receiver));
    for (const change of [activate, rotate]) await expect(change(receiver)).rejects.toMatchObject({ kind: "not_found" });
  });

  it("succeeds for one of two concurrent calls", async () => {
    const receiver = await served.create(newBrand());
    const secret = await rotateAndAccept(receiver);
    const outcomes = await Promise.allSettled([activate(receiver), activate(receiver)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const row = await stored(receiver);
    expect(opened(receiver, row.secret, row.secret_key_id)).toBe(secret);
  });
});

describe("activating a secret without an accepted test", () => {
  it("is refused and changes nothing, unless it is forced", async () => {
    const receiver = await served.create(newBrand());
    const { secret } = await rotate(receiver);
    const before = await stored(receiver);
    await expect(activate(receiver)).rejects.toMatchObject({ kind: "next_secret_not_accepted" });
    expect(await stored(receiver)).toEqual(before);
    await activate(receiver, { force: true });
    const row = await stored(receiver);
    expect(opened(receiver, row.secret, row.secret_key_id)).toBe(secret);
  });

  it.each<[string, (receiver: Receiver) => Promise<unknown>]>([
    ["the next secret is replaced", rotate],
    [
      "the receiver's URL changes",
      (receiver) => served.receivers.updateReceiver({ ...keyOf(receiver), url: `${receiver.url}/moved`, events: [] }),
    ],
  ])("is refused again after %s", async (_, change) => {
    const receiver = await served.create(newBrand());
    await rotateAndAccept(receiver);
    const before = await served.get(receiver);
    expect(before).toMatchObject({ next_secret_accepted_at: expect.any(String) });
    await change(receiver);
    expect(await served.get(receiver)).toMatchObject({ rotating: true, next_secret_accepted_at: null });
    await expect(activate(receiver)).rejects.toMatchObject({ kind: "next_secret_not_accepted" });
  });

  it("stays possible after changes of label and events", async () => {
    const receiver = await served.create(newBrand());
    const secret = await rotateAndAccept(receiver);
    await served.receivers.updateReceiver({ ...keyOf(receiver), label: "Books", url: receiver.url, events: ["payout.paid"] });
    await activate(receiver);
    const row = await stored(receiver);
    expect(opened(receiver, row.secret, row.secret_key_id)).toBe(secret);
  });

  it("never activates a secret that a concurrent rotation makes", async () => {
    const receiver = await served.create(newBrand());
    for (let round = 0; round < 10; round += 1) {
      const tested = await rotateAndAccept(receiver);
      const before = await stored(receiver);
      const active = opened(receiver, before.secret, before.secret_key_id);
      const [activation, { secret: newest }] = await Promise.all([activate(receiver).catch((error: unknown) => error), rotate(receiver)]);
      const row = await stored(receiver);
      expect(opened(receiver, row.next_secret, row.next_secret_key_id)).toBe(newest);
      const refused = activation instanceof Error;
      if (refused) expect(activation).toMatchObject({ kind: "next_secret_not_accepted" });
      expect(opened(receiver, row.secret, row.secret_key_id)).toBe(refused ? active : tested);
      expect(await served.get(receiver)).toMatchObject({ next_secret_accepted_at: null });
    }
  });
});
