import { METHODS } from "@brand-records/proto/methods";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import type { CallContext } from "@brand-records/rpc";
import { STATED_CLIENT } from "@brand-records/testkit";
import { addDelivery } from "../../test/add-delivery.ts";
import { callOf, keyOf, newBrand, present, receiverInput, useReceivers } from "../../test/serve-receivers.ts";

/** One promise: what an owner changes and what the audit log says of it are one, and of a refusal the log says that it was one. */

const OWNER = "ana@ulap.example";
const MEMBER = "ben@ulap.example";
const SINCE = "2026-11-19T00:00:00.000Z";
const AT = "2026-11-20T08:00:00.000Z";

const served = useReceivers();

interface Target {
  readonly receiver: Receiver;
  /** That `prepare` has made; else the receiver's. */
  readonly id: string;
}

interface Changing {
  readonly action: string;
  readonly fields: string[];
  /** Brings the receiver into the state that the change needs. Returns the id of its subject, unless that is the receiver. */
  prepare?(receiver: Receiver): Promise<unknown>;
  /** What names the subject. Default: the receiver. */
  readonly subject?: (receivers: readonly Receiver[], target: Target) => string | undefined;
  call(target: Target, call?: CallContext): Promise<unknown>;
  /** What the same call then does: another change, nothing, or it is refused. */
  readonly again: "changes" | "changes nothing" | { readonly refused: string } | { readonly fails: string };
}

/** Names another person than the grant does. */
const of = ({ receiver }: Target) => ({ ...keyOf(receiver), acting_member: MEMBER });
const disable = (receiver: Receiver) => served.receivers.disableReceiver(keyOf(receiver));
const rotate = (receiver: Receiver) => served.receivers.rotateSecret(keyOf(receiver));

async function waiting(receiver: Receiver): Promise<void> {
  const { id } = await addDelivery(served.db, receiver, { at: AT, state: "pending", status: 500 });
  await served.db.query("update webhook.deliveries set due_at = now() + interval '1 hour' where id = $1", [id]);
  await served.db.query("update webhook.lanes set next_due = '-infinity' where receiver_id = $1", [receiver.id]);
}

const CHANGING: Record<string, Changing> = {
  CreateReceiver: {
    action: "receiver.create",
    fields: ["url", "label", "events"],
    prepare: async ({ brand_id }) => receiverInput(brand_id).url,
    subject: (receivers, { id }) => receivers.find(({ url }) => url === id)?.id,
    call: ({ receiver: { brand_id }, id: url }, call) =>
      served.receivers.createReceiver({ ...receiverInput(brand_id, { url }), acting_member: MEMBER }, call),
    again: { refused: "duplicate_url" },
  },
  UpdateReceiver: {
    action: "receiver.update",
    fields: ["label", "max_in_flight"],
    call: (target, call) => served.receivers.updateReceiver({ ...of(target), events: [], label: "New", max_in_flight: 3 }, call),
    again: "changes nothing",
  },
  EnableReceiver: {
    action: "receiver.enable",
    fields: ["held"],
    prepare: disable,
    call: (target, call) => served.receivers.enableReceiver({ ...of(target), held: "release" }, call),
    again: "changes nothing",
  },
  DisableReceiver: {
    action: "receiver.disable",
    fields: [],
    call: (target, call) => served.receivers.disableReceiver(of(target), call),
    again: "changes nothing",
  },
  DeleteReceiver: {
    action: "receiver.delete",
    fields: [],
    call: (target, call) => served.receivers.deleteReceiver(of(target), call),
    again: { fails: "not_found" },
  },
  RotateSecret: {
    action: "receiver.rotate_secret",
    fields: [],
    call: (target, call) => served.receivers.rotateSecret({ ...of(target), replace: false }, call),
    again: { refused: "request_conflict" },
  },
  ActivateSecret: {
    action: "receiver.activate_secret",
    fields: [],
    prepare: rotate,
    call: (target, call) => served.receivers.activateSecret({ ...of(target), force: true }, call),
    again: { refused: "no_next_secret" },
  },
  SendWaiting: {
    action: "receiver.send_waiting",
    fields: ["all"],
    prepare: waiting,
    call: (target, call) => served.receivers.sendWaiting({ ...of(target), all: true }, call),
    again: "changes nothing",
  },
  SendTest: {
    action: "receiver.test",
    fields: ["type"],
    call: (target, call) => served.receivers.sendTest({ ...of(target), type: "payout.paid", next: false }, call),
    again: "changes",
  },
  ReplayDelivery: {
    action: "delivery.replay",
    fields: [],
    prepare: async (receiver) => (await addDelivery(served.db, receiver, { at: AT, state: "failed" })).id,
    subject: (_, { id }) => id,
    call: ({ receiver: { brand_id }, id }, call) =>
      served.deliveriesRpc.replayDelivery({ brand_id, delivery_id: id, acting_member: MEMBER }, call),
    again: "changes nothing",
  },
  ReplayEvents: {
    action: "receiver.replay",
    fields: ["since", "failed_only"],
    call: (target, call) => served.deliveriesRpc.replayEvents({ ...of(target), since: SINCE, failed_only: true }, call),
    again: "changes nothing",
  },
  CancelReplay: {
    action: "replay.cancel",
    fields: [],
    prepare: async (receiver) =>
      (await served.deliveriesRpc.replayEvents({ ...keyOf(receiver), since: SINCE, failed_only: false })).replay?.id,
    subject: (_, { id }) => id,
    call: ({ receiver: { brand_id }, id }, call) =>
      served.deliveriesRpc.cancelReplay({ brand_id, replay_id: id, acting_member: MEMBER }, call),
    again: "changes nothing",
  },
};

/** A receiver that is ready for the change, and no entry. */
async function targetOf({ prepare }: Changing): Promise<Target> {
  const receiver = await served.create(newBrand());
  const made = await prepare?.(receiver);
  await served.db.query("delete from webhook.audit_outbox where brand_id = $1", [receiver.brand_id]);
  return { receiver, id: typeof made === "string" ? made : receiver.id };
}

async function entriesOf({ receiver: { brand_id } }: Target): Promise<object[]> {
  const select = "select entry, tries from webhook.audit_outbox where brand_id = $1 order by seq";
  const rows = await served.db.query<{ entry: object; tries: number }>(select, [brand_id]);
  return rows.map(({ entry, tries }) => ({ ...entry, tries }));
}

const stateOf = ({ receiver: { brand_id } }: Target) =>
  served.db.query(
    `select r.*, l.held, l.open_until,
            (select json_agg(d order by d.id) from webhook.deliveries d where d.receiver_id = r.id) as deliveries,
            (select json_agg(p order by p.id) from webhook.replays p where p.receiver_id = r.id) as replays
       from webhook.receivers r join webhook.lanes l on l.receiver_id = r.id where r.brand_id = $1 order by r.id`,
    [brand_id],
  );

it("covers every method that writes an entry", () => {
  const writing = Object.entries(METHODS).filter(([path, { entry }]) => path.startsWith("/webhook.") && entry !== undefined);
  expect(writing.map(([path]) => path.split("/")[2] ?? "").toSorted()).toEqual(Object.keys(CHANGING).toSorted());
});

describe.each(Object.entries(CHANGING))("%s", (_, changing) => {
  const { action, fields, call, again, subject } = changing;

  it("writes one entry, of whom the grant proves, and another only for another change", async () => {
    const target = await targetOf(changing);
    await call(target, callOf(`${OWNER} owner zoe@ulap.example`));
    const { receivers } = await served.receivers.listReceivers({ brand_id: target.receiver.brand_id });
    const subject_id = subject === undefined ? target.receiver.id : subject(receivers, target);
    const who = { actor: OWNER, via: "zoe@ulap.example", role: null, ...STATED_CLIENT, request_id: "test" };
    const entry = { action, subject_id, fields, ...who, outcome: "done", error_kind: null, tries: 1 };
    expect(await entriesOf(target)).toEqual([entry]);

    const repeated = call(target, callOf(`${OWNER} owner zoe@ulap.example`));
    if (typeof again === "string") await repeated;
    else await expect(repeated).rejects.toMatchObject({ kind: "refused" in again ? again.refused : again.fails });
    const refused = { action, actor: OWNER, outcome: "failed", tries: 1 };
    const others =
      again === "changes" ? [entry] : typeof again === "object" && "refused" in again ? [{ ...refused, error_kind: again.refused }] : [];
    expect((await entriesOf(target)).slice(1)).toMatchObject(others);
  });

  it("is the operator's without a grant", async () => {
    const target = await targetOf(changing);
    await call(target);
    expect(await entriesOf(target)).toMatchObject([{ action, actor: null, via: null, address: null, browser: null, outcome: "done" }]);
  });

  it("is refused to a member who is no owner, counted, and changes nothing", async () => {
    const target = await targetOf(changing);
    const before = await stateOf(target);
    for (let n = 0; n < 2; n += 1) await expect(call(target, callOf(`${MEMBER} member`))).rejects.toMatchObject({ kind: "owner_required" });
    expect(await stateOf(target)).toEqual(before);
    expect(await entriesOf(target)).toMatchObject([{ action, actor: MEMBER, outcome: "failed", error_kind: "owner_required", tries: 2 }]);
  });

  it("changes nothing if its entry cannot be written", async () => {
    const target = await targetOf(changing);
    const before = await stateOf(target);
    await served.db.query("alter table webhook.audit_outbox add constraint fails check (false) not valid");
    try {
      await expect(call(target, callOf(`${OWNER} owner`))).rejects.toMatchObject({ kind: "internal_error" });
    } finally {
      await served.db.query("alter table webhook.audit_outbox drop constraint fails");
    }
    expect(await stateOf(target)).toEqual(before);
  });

  it("writes no entry if the change is not committed", async () => {
    const target = await targetOf(changing);
    const tables = ["receivers", "deliveries", "replays"];
    await served.db.query("create or replace function webhook.fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$");
    for (const table of tables)
      await served.db.query(
        `create constraint trigger fails after insert or update or delete on webhook.${table} deferrable initially deferred
           for each row execute function webhook.fail()`,
      );
    try {
      await expect(call(target, callOf(`${OWNER} owner`))).rejects.toMatchObject({ kind: "internal_error" });
    } finally {
      for (const table of tables) await served.db.query(`drop trigger fails on webhook.${table}`);
    }
    expect(await entriesOf(target)).toEqual([]);
  });
});

it("what is dropped is recorded, though the receiver is not enabled in the end", async () => {
  const target = await targetOf(CHANGING["EnableReceiver"]!);
  const drop = () => served.receivers.enableReceiver({ ...of(target), held: "drop" }, callOf(`${OWNER} owner`));
  await served.db.query("alter table webhook.receivers add constraint fails check (not enabled) not valid");
  try {
    await expect(drop()).rejects.toMatchObject({ kind: "internal_error" });
  } finally {
    await served.db.query("alter table webhook.receivers drop constraint fails");
  }
  expect(await entriesOf(target)).toMatchObject([{ action: "receiver.enable", fields: ["held"], outcome: "done" }]);
});

it("what is due and not paused is not sent earlier: sending it again is no change; ending a pause is one", async () => {
  const target = await targetOf({ ...CHANGING["SendWaiting"]!, prepare: waiting });
  const { receiver } = target;
  const send = (all: boolean) => served.receivers.sendWaiting({ ...of(target), all }, callOf(`${OWNER} owner`));
  const count = async () => (await entriesOf(target)).length;
  await waiting(receiver);
  await send(false);
  expect(await count()).toBe(1);
  await send(false);
  expect(await count()).toBe(1);
  // The other one still waits for its retry.
  await send(true);
  expect(await count()).toBe(2);
  await served.db.query("update webhook.lanes set open_until = now() + interval '1 hour' where receiver_id = $1", [receiver.id]);
  await send(false);
  expect(await count()).toBe(3);
});

it("an owner of two brands reaches no receiver of one through the other", async () => {
  const [ours, other] = [await targetOf(CHANGING["DeleteReceiver"]!), await targetOf(CHANGING["CancelReplay"]!)];
  const { brand_id } = other.receiver;
  const owner = callOf(`${OWNER} owner`);
  await expect(served.receivers.deleteReceiver({ ...keyOf(ours.receiver), brand_id }, owner)).rejects.toMatchObject({ kind: "not_found" });
  const mixed = { brand_id: ours.receiver.brand_id, replay_id: other.id };
  await expect(served.deliveriesRpc.cancelReplay(mixed, owner)).rejects.toMatchObject({ kind: "not_found", field: "replay_id" });
  expect([...(await entriesOf(ours)), ...(await entriesOf(other))]).toEqual([]);
});

it("an erasure and a deletion cover the entries", async () => {
  const [ours, others] = [await targetOf(CHANGING["DisableReceiver"]!), await targetOf(CHANGING["DisableReceiver"]!)];
  const pseudonym = `erased_${"8".repeat(26)}`;
  for (const { receiver } of [ours, others])
    await served.receivers.disableReceiver(keyOf(receiver), callOf(`${receiver === ours.receiver ? "leaves@ulap.example" : OWNER} owner`));
  const { brand_id } = present(ours.receiver);
  for (let n = 0; n < 2; n += 1)
    expect(await served.operator.erasePerson({ email: "Leaves@ulap.example", pseudonym })).toEqual({ brand_ids: [brand_id] });
  expect(await entriesOf(ours)).toMatchObject([{ actor: pseudonym, address: null, browser: null }]);
  for (const email of ["", "ana"])
    await expect(served.operator.erasePerson({ email, pseudonym })).rejects.toMatchObject({ kind: "invalid_request", field: "email" });
  const { deleted } = await served.operator.deleteBrandData({ brand_id });
  expect(deleted).toEqual([
    { kind: "audit entries", rows: 1 },
    { kind: "receivers", rows: 1 },
  ]);
  expect(await entriesOf(ours)).toEqual([]);
  expect(await entriesOf(others)).toMatchObject([{ actor: OWNER }]);
});
