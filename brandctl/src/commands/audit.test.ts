import { newId } from "@brand-records/ids";
import type { AuditEntry } from "@brand-records/proto/accounts/v1";
import { eventually } from "@brand-records/testkit";
import { allCommands } from "../../test/all-commands.ts";
import { addDelivery } from "../../../services/webhook/test/add-delivery.ts";
import { context, startProduct, type TestBrand } from "../../test/product.ts";
import type { Outcome } from "../../test/test-terminal.ts";

/**
 * Every command: a changing one, as one line to run, with the entry that the service writes with the change; or why none is here.
 *
 * - `reads`: it changes nothing
 * - `as the platform`: it writes records, which the platform writes without an audit log
 * - `all that is left of the brand`: brands-delete.test.ts reads it
 * - `of all brands`: there is no brand whose log would have the entry
 * - `of a person`: each of the person's brands has one, which accounts' own tests read
 * - `this machine`: it calls nothing, or by way of other commands' calls
 */
const COMMANDS: Readonly<Record<string, { readonly line: string; readonly entry: object } | string>> = {
  "brands create": {
    line: "brands create --name Kape --tier pro --verified --id NEW_BRAND",
    entry: { brand_id: "NEW_BRAND", action: "brand.create", subject_id: "NEW_BRAND", fields: ["name", "tier", "verified"] },
  },
  "brands delete": "all that is left of the brand",
  "brands list": "reads",
  "brands move": "needs two databases: brands-move.full.test.ts",
  "brands moves": "reads",
  "brands set-tier": {
    line: "brands set-tier BRAND pro",
    entry: { action: "brand.set_tier", subject_id: "BRAND", fields: ["tier"] },
  },
  "brands verify": {
    line: "brands verify BRAND --off",
    entry: { action: "brand.set_verified", subject_id: "BRAND", fields: ["verified"] },
  },
  "members add": {
    line: "members add lia@kape.example --brand BRAND",
    entry: { action: "member.add", subject_id: "lia@kape.example", fields: ["role"] },
  },
  "members list": "reads",
  "members link": "of a person",
  "members unlink": "of a person",
  "members export": "reads",
  "members erase": "of a person",
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
  "requests recent": "reads",
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
    entry: { action: "receiver.replay", subject_id: "RECEIVER", fields: ["since", "failed_only"] },
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
const run = (line: string): Promise<Outcome> => product.run(withIds(line));
const entries = async (brandId = brand.id): Promise<AuditEntry[]> =>
  (await run(`audit list --brand ${brandId} --json`)).json<{ entries: AuditEntry[] }>().entries;
/** Forgets what was written, when it has come to accounts. */
async function clear(): Promise<void> {
  const waiting =
    "select from plans.audit_outbox where acknowledged_at is null union all select from webhook.audit_outbox where acknowledged_at is null";
  await eventually(async () => expect(await product.db.query(waiting)).toEqual([]));
  await product.db.query("truncate accounts.audit_entries");
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

  it.each(changing)("has one entry of $path, the operator's", async ({ path, line, entry }) => {
    await prepare(path);
    expect(await run(line)).toMatchObject({ code: 0 });
    const expected = Object.entries({ brand_id: brand.id, ...entry }).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "string" ? withIds(value) : value,
    ]);
    const withValues = Object.fromEntries(expected) as Record<string, unknown>;
    await eventually(async () =>
      expect(await entries(withValues["brand_id"] as string)).toEqual([
        expect.objectContaining({ ...withValues, outcome: "done", actor: null }),
      ]),
    );
    expect(JSON.stringify(await entries(withValues["brand_id"] as string))).not.toMatch(/tok3n|Reporting|Kape|whsec_|brk_/);
  });

  it("has the id of the request, by which the logs of services are searched", async () => {
    const requestIds: string[] = [];
    product.intercepts.set("accounts.setBrandTier", (_, forward, { requestId }) => {
      requestIds.push(requestId);
      return forward();
    });
    await run("brands set-tier BRAND pro");
    expect((await entries()).map(({ request_id }) => request_id)).toEqual(requestIds);
  });

  it("has nothing of what was refused to the operator", async () => {
    expect((await run("brands create --name Other --tier plus --id BRAND")).code).toBe(1);
    expect(await entries()).toEqual([]);
  });

  it("is listed, newest first, with filters, over all pages", async () => {
    await run("members add lia@kape.example --brand BRAND");
    await run("brands set-tier BRAND pro");
    // Entries of 1.0, whose consoles and brandctl said what they were about to do, and then how it went.
    for (const [id, outcome] of [
      ["aud_begun", null],
      ["aud_lost", "unknown"],
    ]) {
      await product.db.query(
        `insert into accounts.audit_entries (id, brand_id, action, subject_id, fields, request_id, outcome, error_kind, finished_at)
         values ($1, $2, 'key.revoke', 'key_1', '{}', 'r', $3::text, case when $3::text is not null then 'timeout' end,
                 case when $3::text is not null then now() end)`,
        [id, brand.id, outcome],
      );
    }
    await product.db.query(
      `update accounts.audit_entries set actor = 'ana@ulap.example', outcome = 'failed', error_kind = 'owner_required', tries = 3
        where action = 'member.add'`,
    );
    await product.db.query("update accounts.audit_entries set created_at = '2026-11-21T08:30:00Z'");
    expect((await run("audit list --brand BRAND")).stdout.split("\n")).toEqual([
      "TIME (UTC)        BY                ACTION          SUBJECT                         FIELDS        OUTCOME                           FROM",
      "2026-11-21 08:30  operator          key.revoke      key_1                           -             unknown: timeout                  -",
      "2026-11-21 08:30  operator          key.revoke      key_1                           -             not finished                      -",
      `2026-11-21 08:30  operator          brand.set_tier  ${brand.id}  tier          done                              -`,
      "2026-11-21 08:30  ana@ulap.example  member.add      lia@kape.example                role: member  failed: owner_required (3 times)  -",
      "",
    ]);
    product.intercepts.set("accounts.listAudit", (request: object, forward) => forward({ ...request, page_size: 1 }));
    expect((await entries()).map(({ action }) => action)).toEqual(["key.revoke", "key.revoke", "brand.set_tier", "member.add"]);
    const since = "--since 2026-11-21T16:00:00+08:00 --until 2026-11-22T00:00:00Z";
    for (const [filters, count] of [
      [`--by operator --action brand.set_tier ${since} --limit 1`, 1],
      ["--by ana@ulap.example", 1],
      ["--by zoe@ulap.example", 0],
      ["--since 2026-11-21T09:00:00Z", 0],
      ["--until 2026-11-21T08:00:00Z", 0],
    ] as const) {
      const found = (await run(`audit list --brand BRAND ${filters} --json`)).json<{ entries: object[] }>();
      expect([filters, found.entries.length]).toEqual([filters, count]);
    }
    expect((await run("audit list --brand brd_nope")).stderr).toContain("There is no brand with this id");
  });
});
