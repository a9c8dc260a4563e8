import { AppError } from "@brand-records/errors";
import { newId } from "@brand-records/ids";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { allCommands } from "../../test/all-commands.ts";
import { addDelivery } from "../../../services/webhook/test/add-delivery.ts";
import { context, startProduct, type TestBrand } from "../../test/product.ts";
import { failing, type Outcome, type Surroundings } from "../../test/test-terminal.ts";

/**
 * Every command: a changing one, as one line to run, with the entries that it makes; or why there is none.
 *
 * - `reads`: it changes nothing
 * - `as the platform`: it writes records, which the platform writes without an audit log
 * - `of all brands`: there is no brand whose log would have the entry
 * - `by accounts`: accounts writes the entries in the transaction of the change
 * - `this machine`: it calls nothing, or by way of other commands' calls
 */
const COMMANDS: Readonly<Record<string, { readonly line: string; readonly entry: object } | string>> = {
  "brands create": {
    line: "brands create --name Kape --tier pro --verified --id NEW_BRAND",
    entry: { brand_id: "NEW_BRAND", action: "brand.create", subject_id: "NEW_BRAND", fields: ["name", "tier", "verified"] },
  },
  "brands delete": "by accounts",
  "brands list": "reads",
  "brands set-tier": {
    line: "brands set-tier BRAND pro",
    entry: { action: "brand.set_tier", subject_id: "BRAND", fields: ["tier"] },
  },
  "brands verify": {
    line: "brands verify BRAND",
    entry: { action: "brand.set_verified", subject_id: "BRAND", fields: ["verified"] },
  },
  "members add": {
    line: "members add lia@kape.example --brand BRAND",
    entry: { action: "member.add", subject_id: "lia@kape.example", fields: ["role"] },
  },
  "members list": "reads",
  "members link": "by accounts",
  "members unlink": "by accounts",
  "members export": "reads",
  "members erase": "by accounts",
  "members remove": {
    line: "members remove MEMBER --brand BRAND",
    entry: { action: "member.remove", subject_id: "MEMBER", fields: [] },
  },
  "keys create": {
    line: "keys create --brand BRAND --name Reporting",
    entry: { action: "key.create", subject_id: expect.stringMatching(/^key_/), fields: ["name", "environment"] },
  },
  "keys list": "reads",
  "keys show": "reads",
  "keys revoke": {
    line: "keys revoke KEY",
    entry: { action: "key.revoke", subject_id: "KEY", fields: [] },
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
    line: "receivers create --brand BRAND --url https://hooks.ulap.example/in?t=tok3n --label Books --events payout.paid",
    entry: { action: "receiver.create", subject_id: expect.stringMatching(/^rcv_/), fields: ["url", "label", "events"] },
  },
  "receivers list": "reads",
  "receivers show": "reads",
  "receivers update": {
    line: "receivers update RECEIVER --label Ledger",
    entry: { action: "receiver.update", subject_id: "RECEIVER", fields: ["label"] },
  },
  "receivers enable": {
    line: "receivers enable RECEIVER --release",
    entry: { action: "receiver.enable", subject_id: "RECEIVER", fields: ["held"] },
  },
  "receivers disable": { line: "receivers disable RECEIVER", entry: { action: "receiver.disable", subject_id: "RECEIVER", fields: [] } },
  "receivers rotate": {
    line: "receivers rotate RECEIVER --replace",
    entry: { action: "receiver.rotate_secret", subject_id: "RECEIVER", fields: [] },
  },
  "receivers activate": {
    line: "receivers activate RECEIVER",
    entry: { action: "receiver.activate_secret", subject_id: "RECEIVER", fields: [] },
  },
  "receivers test": {
    line: "receivers test RECEIVER --type payout.paid",
    entry: { action: "receiver.test", subject_id: "RECEIVER", fields: ["type"] },
  },
  "receivers delete": {
    line: "receivers delete RECEIVER --yes",
    entry: { action: "receiver.delete", subject_id: "RECEIVER", fields: [] },
  },
  "deliveries list": "reads",
  "deliveries show": "reads",
  "deliveries replay": {
    line: "deliveries replay --receiver RECEIVER --since 2026-11-21T00:00:00Z",
    entry: { action: "receiver.replay", subject_id: "RECEIVER", fields: ["since"] },
  },
  "events list": "reads",
  "events list-dead": "reads",
  "events replay-dead": "of all brands",
  listen: "this machine",
  doctor: "reads",
};

const product = startProduct();
let brand: TestBrand;
/** What stands for the words in COMMANDS. */
let ids: Record<string, string>;

const withIds = (line: string): string => line.replace(/\b[A-Z_]{3,}\b/g, (word) => ids[word] ?? word);
const run = (line: string, surroundings: Surroundings = {}): Promise<Outcome> => product.run(withIds(line), surroundings);
const entries = async (brandId = brand.id): Promise<AuditEntry[]> =>
  (await run(`audit list --brand ${brandId} --json`)).json<{ entries: AuditEntry[] }>().entries;
const clear = (): Promise<unknown> => product.db.query("truncate accounts.audit_entries");
/** Everything of the brand that a command may change. */
async function state(): Promise<string> {
  const places = [
    "accounts.brands t where t.id = any($1::text[])",
    ...["accounts.members", "accounts.keys", "webhook.receivers"].map((table) => `${table} t where brand_id = any($1::text[])`),
    ...["webhook.deliveries", "webhook.replays"].map((table) => `${table} t where receiver_id = any($1::text[])`),
  ];
  const rows = places.map((place) => product.db.query(`select t::text as row from ${place} order by 1`, [Object.values(ids)]));
  return JSON.stringify(await Promise.all(rows));
}

/** What a command needs in order to change something. */
async function prepare(path: string): Promise<void> {
  if (path === "receivers activate")
    await product.db.query("update webhook.receivers set next_secret_accepted_at = now() where id = $1", [ids["RECEIVER"]]);
  if (path === "receivers enable") await run("receivers disable RECEIVER");
  await clear();
}

beforeEach(async () => {
  brand = await product.createBrand();
  const MEMBER = `ana@${brand.id.slice(4)}.example`;
  await product.accounts.addMember({ brand_id: brand.id, email: MEMBER, role: "member" }, context());
  const key = (await run(`keys create --brand ${brand.id} --name Reporting --json`)).json<{ key: { id: string } }>().key.id;
  const request = { brand_id: brand.id, url: "https://hooks.ulap.example/", label: "Books", events: ["payout.paid"] };
  const { receiver } = await product.receivers.createReceiver(request, context());
  await run(`receivers rotate ${receiver?.id}`);
  await addDelivery(product.db, receiver as { brand_id: string; id: string }, { at: new Date().toISOString() });
  ids = { BRAND: brand.id, NEW_BRAND: newId("brd"), KEY: key, RECEIVER: receiver?.id ?? "", MEMBER };
  await clear();
});

describe("the audit log", () => {
  it("is considered for every command", () => {
    const leaves = allCommands().filter(({ command }) => command.commands.length === 0);
    expect(Object.keys(COMMANDS).toSorted()).toEqual(leaves.map(({ path }) => path).toSorted());
  });

  const changing = Object.entries(COMMANDS).flatMap(([path, command]) => (typeof command === "string" ? [] : [{ path, ...command }]));

  it.each(changing)("has an entry of $path before the change, without which it is not made, and its outcome after it", async (changed) => {
    const { path, line, entry } = changed;
    await prepare(path);
    const before = await state();
    product.failNext("accounts.appendAudit", new AppError("timeout", "The request took too long."));
    const prevented = { code: 1, stdout: "", stderr: expect.stringContaining("Nothing was changed, because the audit log") };
    expect(await run(line)).toMatchObject(prevented);
    expect(await state()).toBe(before);
    const atAppend: string[] = [];
    product.intercepts.set("accounts.appendAudit", async (_, forward) => {
      atAppend.push(await state());
      return forward() as Promise<unknown>;
    });
    expect(await run(line)).toMatchObject({ code: 0 });
    const expected = { brand_id: brand.id, ...entry };
    const withValues = Object.fromEntries(
      Object.entries(expected).map(([name, value]) => [name, typeof value === "string" ? withIds(value) : (value as unknown)]),
    );
    const written = await entries(withValues["brand_id"] as string);
    expect(written).toEqual([expect.objectContaining({ ...withValues, outcome: "done", request_id: expect.any(String), actor: null })]);
    expect(atAppend).toEqual([before]);
    expect(JSON.stringify(written)).not.toMatch(/tok3n|Reporting|Kape|whsec_|brk_/);
  });

  it("has refused changes too, with the reason", async () => {
    expect((await run("brands create --name Other --tier plus --id BRAND")).code).toBe(1);
    expect(await entries()).toEqual([
      expect.objectContaining({ action: "brand.create", subject_id: brand.id, outcome: "failed", error_kind: "already_exists" }),
    ]);
  });

  it("has changes whose outcome is unknown", async () => {
    product.failNext("accounts.setBrandTier", new AppError("timeout", "Too slow"));
    expect((await run("brands set-tier BRAND pro")).code).toBe(1);
    expect(await entries()).toEqual([expect.objectContaining({ outcome: "unknown", error_kind: "timeout" })]);
  });

  it("has the outcome of a change that Ctrl-C interrupted", async () => {
    const interrupting = new AbortController();
    product.intercepts.set("accounts.appendAudit", (_, forward) => {
      interrupting.abort();
      return forward();
    });
    expect((await run("brands set-tier BRAND pro", { interrupted: interrupting.signal })).code).toBe(130);
    expect(await entries()).toEqual([expect.objectContaining({ outcome: "unknown" })]);
  });

  it("never keeps a key from being shown: a missing outcome is a remark", async () => {
    product.intercepts.set("accounts.finishAudit", () => Promise.reject(new AppError("timeout", "The request took too long.")));
    const { code, stdout, stderr } = await run("keys create --brand BRAND --name Books");
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^brk_live_/) });
    expect(stderr).toContain("The outcome is missing from the audit log");
  });

  it("needs the address of accounts, for receivers too, and says that the brand was deleted", async () => {
    const { WEBHOOK_ADDRESS } = product.env;
    const before = await state();
    const outcome = await run("receivers disable RECEIVER", { env: { WEBHOOK_ADDRESS } });
    expect(outcome).toMatchObject(failing(1, "The address of accounts is not known"));
    expect(await state()).toBe(before);
    product.failNext("accounts.appendAudit", new AppError("not_found", "The brand was deleted.", { field: "brand_id" }));
    expect((await run("brands set-tier BRAND pro")).stderr).toContain("error: The brand was deleted.");
  });

  it("is listed, newest first, with filters, over all pages", async () => {
    await run("members add lia@kape.example --brand BRAND");
    await run("brands create --name Other --tier plus --id BRAND");
    await product.db.query("update accounts.audit_entries set created_at = '2026-11-21T08:30:00Z'");
    expect((await run("audit list --brand BRAND")).stdout.split("\n")).toEqual([
      "TIME (UTC)        BY        ACTION        SUBJECT                         FIELDS                OUTCOME                 FROM",
      `2026-11-21 08:30  operator  brand.create  ${brand.id}  name, tier, verified  failed: already_exists  -`,
      "2026-11-21 08:30  operator  member.add    lia@kape.example                role: member          done                    -",
      "",
    ]);
    product.intercepts.set("accounts.listAudit", (request: object, forward) => forward({ ...request, page_size: 1 }));
    expect((await entries()).map(({ action }) => action)).toEqual(["brand.create", "member.add"]);
    const since = "--since 2026-11-21T16:00:00+08:00 --until 2026-11-22T00:00:00Z";
    for (const [filters, count] of [
      [`--by operator --action member.add ${since} --limit 1`, 1],
      ["--by ana@ulap.example", 0],
      ["--since 2026-11-21T09:00:00Z", 0],
      ["--until 2026-11-21T08:00:00Z", 0],
    ] as const) {
      const found = (await run(`audit list --brand BRAND ${filters} --json`)).json<{ entries: object[] }>();
      expect([filters, found.entries.length]).toEqual([filters, count]);
    }
    expect((await run("audit list --brand brd_nope")).stderr).toContain("There is no brand with this id");
  });
});
