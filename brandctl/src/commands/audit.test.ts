import { AppError } from "@brand-records/errors";
import { allCommands } from "../../test/all-commands.ts";
import { FakeAccounts } from "../../test/fake-accounts.ts";
import { deliveryOf, FakeWebhook, receiverOf } from "../../test/fake-webhook.ts";
import { serve, type Served } from "../../test/serve.ts";
import { brandctl, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

/**
 * Every command: a changing one, as one line to run, with the entries that it makes; or why there is none.
 *
 * - `reads`: it changes nothing
 * - `as the platform`: it writes records, which the platform writes without an audit log
 * - `of all brands`: there is no brand whose log would have the entry
 * - `by accounts`: accounts writes the entries in the transaction of the change
 * - `this machine`: it calls nothing, or by way of other commands' calls
 */
const COMMANDS: Readonly<Record<string, { readonly line: string; readonly entries: readonly object[] } | string>> = {
  "brands create": {
    line: "brands create --name Kape --tier pro --verified --id brd_kape",
    entries: [{ brand_id: "brd_kape", action: "brand.create", subject_id: "brd_kape", fields: ["name", "tier", "verified"] }],
  },
  "brands delete": "by accounts",
  "brands list": "reads",
  "brands set-tier": {
    line: "brands set-tier brd_1 pro",
    entries: [{ action: "brand.set_tier", subject_id: "brd_1", fields: ["tier"] }],
  },
  "brands verify": {
    line: "brands verify brd_1",
    entries: [{ action: "brand.set_verified", subject_id: "brd_1", fields: ["verified"] }],
  },
  "members add": {
    line: "members add lia@ulap.example --brand brd_1",
    entries: [{ action: "member.add", subject_id: "lia@ulap.example", fields: ["role"] }],
  },
  "members list": "reads",
  "members link": "by accounts",
  "members unlink": "by accounts",
  "members export": "reads",
  "members erase": "by accounts",
  "members remove": {
    line: "members remove ana@ulap.example --brand brd_1",
    entries: [{ action: "member.remove", subject_id: "ana@ulap.example", fields: [] }],
  },
  "keys create": {
    line: "keys create --brand brd_1 --name Reporting",
    entries: [{ action: "key.create", subject_id: "key_made0", fields: ["name", "environment"] }],
  },
  "keys list": "reads",
  "keys show": "reads",
  "keys revoke": {
    line: "keys revoke key_made0",
    entries: [{ action: "key.revoke", subject_id: "key_made0", fields: [] }],
  },
  "audit list": "reads",
  "audit export": "reads",
  "requests list": "reads",
  "records import": "as the platform",
  "records generate": "as the platform",
  "records set-status": "as the platform",
  "plans list": "reads",
  "plans show": "reads",
  "receivers create": {
    line: "receivers create --brand brd_1 --url https://hooks.ulap.example/in?t=tok3n --label Books --events payout.paid",
    entries: [{ action: "receiver.create", subject_id: "rcv_made1", fields: ["url", "label", "events"] }],
  },
  "receivers list": "reads",
  "receivers show": "reads",
  "receivers update": {
    line: "receivers update rcv_1 --label Ledger",
    entries: [{ action: "receiver.update", subject_id: "rcv_1", fields: ["label"] }],
  },
  "receivers enable": {
    line: "receivers enable rcv_1 --release",
    entries: [{ action: "receiver.enable", subject_id: "rcv_1", fields: ["held"] }],
  },
  "receivers disable": { line: "receivers disable rcv_1", entries: [{ action: "receiver.disable", subject_id: "rcv_1", fields: [] }] },
  "receivers rotate": {
    line: "receivers rotate rcv_1 --replace",
    entries: [{ action: "receiver.rotate_secret", subject_id: "rcv_1", fields: [] }],
  },
  "receivers activate": {
    line: "receivers activate rcv_1",
    entries: [{ action: "receiver.activate_secret", subject_id: "rcv_1", fields: [] }],
  },
  "receivers test": {
    line: "receivers test rcv_1 --type payout.paid",
    entries: [{ action: "receiver.test", subject_id: "rcv_1", fields: ["type"] }],
  },
  "receivers delete": {
    line: "receivers delete rcv_1 --yes",
    entries: [{ action: "receiver.delete", subject_id: "rcv_1", fields: [] }],
  },
  "deliveries list": "reads",
  "deliveries show": "reads",
  "deliveries replay": {
    line: "deliveries replay --receiver rcv_1 --since 2026-11-21T00:00:00Z",
    entries: [{ action: "receiver.replay", subject_id: "rcv_1", fields: ["since"] }],
  },
  "events list": "reads",
  "events list-dead": "reads",
  "events replay-dead": "of all brands",
  listen: "this machine",
  doctor: "reads",
};

describe("the audit log", () => {
  let accounts: FakeAccounts;
  let webhook: FakeWebhook;
  let served: Served;
  const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> => {
    const { address } = served;
    return brandctl(line.split(" "), { env: { ACCOUNTS_ADDRESS: address, WEBHOOK_ADDRESS: address }, ...surroundings });
  };
  const state = (): string =>
    JSON.stringify([[...accounts.brands], accounts.members, accounts.keys, webhook.receivers, webhook.deliveries, webhook.replays]);
  /** What a command needs in order to change something. */
  const prepare = async (path: string): Promise<void> => {
    if (path === "keys revoke") await run("keys create --brand brd_1 --name Reporting");
    if (path === "receivers activate")
      webhook.receivers[0] = receiverOf({ rotating: true, next_secret_accepted_at: "2026-11-21T08:35:00.000Z" });
    if (path === "receivers enable") webhook.receivers[0] = receiverOf({ enabled: false });
    accounts.audit.entries.splice(0);
  };
  beforeEach(async () => {
    [accounts, webhook] = [new FakeAccounts(), new FakeWebhook()];
    served = await serve(...accounts.served, ...webhook.served);
    accounts.add();
    for (const [email, role] of [
      ["zoe@ulap.example", "owner"],
      ["ana@ulap.example", "member"],
    ] as const) {
      accounts.members.push({ brand_id: "brd_1", email, role, created_at: "2026-11-21T08:30:00.000Z" });
    }
    webhook.receivers.push(receiverOf({ rotating: true }));
    webhook.deliveries.push(deliveryOf());
  });
  afterEach(() => served.stop());

  it("is considered for every command", () => {
    const leaves = allCommands().filter(({ command }) => command.commands.length === 0);
    expect(Object.keys(COMMANDS).toSorted()).toEqual(leaves.map(({ path }) => path).toSorted());
  });

  const changing = Object.entries(COMMANDS).flatMap(([path, command]) => (typeof command === "string" ? [] : [{ path, ...command }]));

  it.each(changing)("has an entry of $path before the change, and its outcome after it", async ({ path, line, entries }) => {
    await prepare(path);
    const { audit } = accounts;
    const before = state();
    const atAppend: string[] = [];
    audit.onAppend = () => void atAppend.push(state());
    const outcome = await run(line);
    expect(outcome).toMatchObject({ code: 0 });
    expect(audit.entries).toEqual(
      entries.map((entry) => expect.objectContaining({ brand_id: "brd_1", ...entry, outcome: "done", request_id: expect.any(String) })),
    );
    expect(audit.entries[0]?.actor).toBeNull();
    expect(atAppend).toEqual([before]);
    expect(JSON.stringify(audit.entries)).not.toMatch(/tok3n|Reporting|Kape|whsec_|brk_/);
  });

  it.each(changing)("that cannot be written prevents $path", async ({ path, line }) => {
    await prepare(path);
    const before = state();
    accounts.audit.onAppend = () => {
      throw new AppError("timeout", "The request took too long.");
    };
    expect(await run(line)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("Nothing was changed, because the audit log"),
    });
    expect(state()).toBe(before);
  });

  it("has refused changes too, with the reason", async () => {
    expect((await run("brands create --name Other --tier plus --id brd_1")).code).toBe(1);
    expect(accounts.audit.entries).toEqual([
      expect.objectContaining({ action: "brand.create", subject_id: "brd_1", outcome: "failed", error_kind: "already_exists" }),
    ]);
  });

  it("has changes whose outcome is unknown", async () => {
    accounts.failChange = new AppError("timeout", "Too slow");
    expect((await run("brands set-tier brd_1 pro")).code).toBe(1);
    expect(accounts.audit.entries).toEqual([expect.objectContaining({ outcome: "unknown", error_kind: "timeout" })]);
  });

  it("has the outcome of a change that Ctrl-C interrupted", async () => {
    const interrupting = new AbortController();
    accounts.audit.onAppend = () => interrupting.abort();
    expect(
      (await run("brands set-tier brd_1 pro", { env: { ACCOUNTS_ADDRESS: served.address }, interrupted: interrupting.signal })).code,
    ).toBe(130);
    expect(accounts.audit.entries).toEqual([expect.objectContaining({ outcome: "unknown" })]);
  });

  it("never keeps a key from being shown: a missing outcome is a remark", async () => {
    accounts.audit.finishError = new AppError("timeout", "The request took too long.");
    const { code, stdout, stderr } = await run("keys create --brand brd_1 --name Reporting");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^brk_live_/) });
    expect(stderr).toContain("The outcome is missing from the audit log");
  });

  it("needs the address of accounts, for receivers too", async () => {
    const outcome = await run("receivers disable rcv_1", { env: { WEBHOOK_ADDRESS: served.address } });
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("The address of accounts is not known") });
    expect(webhook.receivers[0]?.enabled).toBe(true);
  });

  it("is listed, newest first, with filters, over all pages", async () => {
    await run("members add lia@ulap.example --brand brd_1");
    await run("brands create --name Other --tier plus --id brd_1");
    expect((await run("audit list --brand brd_1")).stdout.split("\n")).toEqual([
      "TIME (UTC)        BY        ACTION        SUBJECT           FIELDS                OUTCOME                 FROM",
      "2026-11-21 08:30  operator  brand.create  brd_1             name, tier, verified  failed: already_exists  -",
      "2026-11-21 08:30  operator  member.add    lia@ulap.example  role: member          done                    -",
      "",
    ]);
    const filters = "--by ana@ulap.example --action key.create --since 2026-11-21T08:00:00+08:00 --until 2026-11-22T00:00:00Z";
    const { entries } = (await run(`audit list --brand brd_1 ${filters} --limit 1 --json`)).json<{ entries: object[] }>();
    expect(entries).toEqual([expect.objectContaining({ action: "brand.create" })]);
    expect(accounts.audit.requests.at(-1)).toEqual({
      brand_id: "brd_1",
      actor: "ana@ulap.example",
      action: "key.create",
      from: "2026-11-21T00:00:00.000Z",
      to: "2026-11-22T00:00:00.000Z",
      page_size: 1,
      page_token: null,
    });
    expect((await run("audit list --brand brd_nope")).stderr).toContain("There is no brand with this id");
  });
});
