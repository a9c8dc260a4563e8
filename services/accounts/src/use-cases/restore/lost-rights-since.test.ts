import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peopleOf } from "../../../test/people.ts";
import { expectRefusal, serveAccounts, type ServedAccounts, type TestBrand } from "../../../test/serve-accounts.ts";
import { afterRestore, type AfterRestore } from "./after-restore.ts";
import type { AuditFiles } from "./audit-file.ts";

/** Two databases: one as the backup had it, and one that has what has happened since. */
let restored: ServedAccounts;
let live: ServedAccounts;
let folder: string;
let brand: TestBrand;
beforeAll(async () => {
  [restored, live] = await Promise.all([serveAccounts(), serveAccounts()]);
  folder = await mkdtemp(join(tmpdir(), "lost-rights-"));
});
afterAll(async () => {
  await Promise.all([restored.stop(), live.stop()]);
  await rm(folder, { recursive: true });
});

const TABLES = ["brands", "members", "keys", "identities", "audit_entries"];
/** Puts live's rows of the brand into the restored database, as a backup of this moment. */
async function backUp(): Promise<void> {
  for (const table of TABLES) {
    const rows = await live.db.query<{ row: string }>(`select to_jsonb(t)::text as row from accounts.${table} t`);
    for (const { row } of rows)
      await restored.db.query(
        `insert into accounts.${table} select * from jsonb_populate_record(null::accounts.${table}, $1::jsonb) on conflict do nothing`,
        [row],
      );
  }
}

async function audited(action: string, subject_id: string | null, more: object, change: () => Promise<unknown>): Promise<void> {
  const request = { brand_id: brand.id, actor: brand.owner, action, subject_id, fields: [], request_id: "r", ...more };
  const { entry } = await live.audit.appendAudit(request);
  await change();
  await live.audit.finishAudit({ brand_id: brand.id, entry_id: entry?.id ?? "", outcome: "done" });
}

/** A file as `brandctl audit export` writes it. */
async function exported(name = "audit.ndjson"): Promise<string> {
  const rows = await live.db.query("select * from accounts.audit_entries order by coalesce(finished_at, created_at), id");
  const path = join(folder, name);
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

const ignore = async (): Promise<void> => {};
async function run(audit: AuditFiles) {
  const withoutOwner: string[] = [];
  const reports = { onTaken: ignore, onOpen: ignore, onKey: ignore, onUnfinished: ignore };
  const onWithoutOwner = async (id: string): Promise<void> => void withoutOwner.push(id);
  const done: AfterRestore = await afterRestore({
    db: restored.db,
    ownerDb: restored.db,
    redis: undefined,
    audit,
    onWithoutOwner,
    ...reports,
  });
  return { ...done, withoutOwner };
}
const fromFile = (path: string, mayHaveGap = false): AuditFiles => ({ paths: [path], keepDays: 730, mayHaveGap });

interface Scene {
  readonly revoked: string;
  readonly staying: string;
  readonly removed: string;
  readonly demoted: string;
  readonly unlinked: string;
}

/** A backup, and afterwards a revocation, a removal, a demotion and an unlinking. */
async function scene(): Promise<Scene> {
  brand = await live.createBrand();
  const people = peopleOf(live);
  const at = brand.id.slice(4);
  const [removed, demoted, unlinked] = [`removed@${at}.example`, `demoted@${at}.example`, `unlinked@${at}.example`];
  await people.addMember(brand, removed, "owner");
  await people.addMember(brand, demoted, "owner");
  await people.addMember(brand, unlinked);
  const [revoked, staying] = [(await live.createKey(brand)).id, (await live.createKey(brand)).id];
  const bind = "insert into accounts.identities (issuer, subject, email) values ('https://idp.example', $1, $1)";
  await live.db.query(bind, [unlinked]);
  await live.db.query(bind, [brand.owner]);
  await backUp();
  const member = { brand_id: brand.id, acting_member: brand.owner };
  await audited("key.revoke", revoked, {}, () => live.accounts.revokeKey({ brand_id: brand.id, key_id: revoked, revoked_by: brand.owner }));
  await audited("member.remove", removed, {}, () => live.accounts.removeMember({ ...member, email: removed }));
  await audited("member.set_role", demoted, { role: "member" }, () =>
    live.accounts.setMemberRole({ ...member, email: demoted, role: "member" }),
  );
  await live.signIn.unlinkIdentities({ email: unlinked });
  return { revoked, staying, removed, demoted, unlinked };
}

async function expectTaken({ revoked, staying, demoted }: Scene): Promise<void> {
  const { keys } = await restored.accounts.listKeys({ brand_id: brand.id, ids: [] });
  expect(keys.filter(({ revoked_at }) => revoked_at != null).map(({ id }) => id)).toEqual([revoked]);
  expect(keys.map(({ id }) => id)).toContain(staying);
  const { members } = await restored.accounts.listMembers({ brand_id: brand.id });
  expect(members.map(({ email, role }) => [email, role])).toEqual(
    expect.arrayContaining([
      [brand.owner, "owner"],
      [demoted, "member"],
    ]),
  );
  expect(members).toHaveLength(3);
  const identities = await restored.db.query("select email from accounts.identities where email like $1", [
    `%@${brand.id.slice(4)}.example`,
  ]);
  expect(identities).toEqual([{ email: brand.owner }]);
}

it("takes away again what has ended since the backup, once", async () => {
  const made = await scene();
  const read = fromFile(await exported());
  expect(await run(read)).toMatchObject({ keys_revoked: 1, members_removed: 1, owners_demoted: 1, people_unlinked: 1, withoutOwner: [] });
  await expectTaken(made);
  const { entries } = await restored.audit.listAudit({ brand_id: brand.id, page_size: 0, actor: "operator" });
  const ours = entries.filter(({ request_id }) => request_id === "after-restore");
  expect(ours.map(({ action, subject_id }) => `${action} ${subject_id}`).toSorted()).toEqual(
    [
      `key.revoke ${made.revoked}`,
      `member.remove ${made.removed}`,
      `member.set_role ${made.demoted}`,
      `identity.unlink ${made.unlinked}`,
    ].toSorted(),
  );
  expect(await run(read)).toMatchObject({ keys_revoked: 0, members_removed: 0, owners_demoted: 0, people_unlinked: 0 });
});

it("takes the rest when it is repeated after an interruption", async () => {
  const made = await scene();
  const read = fromFile(await exported("interrupted.ndjson"));
  // A young system: nothing was written before the backup, and what is there at the repetition is of the first run.
  await restored.db.query("delete from accounts.audit_entries");
  const options = {
    db: restored.db,
    ownerDb: restored.db,
    redis: undefined,
    audit: read,
    onWithoutOwner: ignore,
    onOpen: ignore,
    onKey: ignore,
  };
  const onTaken = async (): Promise<void> => {
    throw new Error("interrupted");
  };
  await expect(afterRestore({ ...options, onTaken, onUnfinished: ignore })).rejects.toThrow("interrupted");
  const { keys_revoked, members_removed, owners_demoted, people_unlinked } = await run(read);
  expect(keys_revoked + members_removed + owners_demoted + people_unlinked).toBe(3);
  await expectTaken(made);
});

it("takes the last owner, and says that the brand has none", async () => {
  const made = await scene();
  const path = await exported("last-owner.ndjson");
  const entry = {
    id: "aud_last",
    brand_id: brand.id,
    action: "member.remove",
    subject_id: brand.owner,
    created_at: new Date().toISOString(),
  };
  await appendFile(path, `${JSON.stringify({ ...entry, outcome: null })}\n`);
  expect((await run(fromFile(path))).withoutOwner).toEqual([brand.id]);
  const { members } = await restored.accounts.listMembers({ brand_id: brand.id });
  expect(members.map(({ email }) => email).toSorted()).toEqual([made.demoted, made.unlinked].toSorted());
});

it("deletes the rights of a brand that was deleted since", async () => {
  const { staying } = await scene();
  await live.operator.beginBrandDeletion({ brand_id: brand.id, resume: false });
  expect(await run(fromFile(await exported("deleted.ndjson")))).toMatchObject({ brands_deleted: 1, withoutOwner: [] });
  expect(await restored.db.query("select from accounts.keys where id = $1", [staying])).toEqual([]);
  await expectRefusal(restored.accounts.getBrand({ brand_id: brand.id }), "not_found");
  // The operator's deletion goes on from here.
  expect(await restored.operator.beginBrandDeletion({ brand_id: brand.id, resume: true })).toBeDefined();
});

it("takes what a file says also long after people have worked with the restored database again", async () => {
  const made = await scene();
  const path = await exported("late.ndjson");
  const signedIn = `insert into accounts.audit_entries (id, brand_id, actor, action, fields, request_id, created_at, outcome, finished_at)
    values ('aud_since', $1, $2, 'session.sign_in_with_link', '{}', 'r', now() + interval '1 hour', 'done', now() + interval '1 hour')`;
  await restored.db.query(signedIn, [brand.id, brand.owner]);
  await expect(run(fromFile(path))).rejects.toThrow(/the last entry of the files is of .*, before the newest of the restored database/);
  expect(await run(fromFile(path, true))).toMatchObject({ keys_revoked: 1, members_removed: 1, owners_demoted: 1, people_unlinked: 1 });
  await expectTaken(made);
  await restored.db.query("delete from accounts.audit_entries where id = 'aud_since'");
});

it("refuses files that begin after the newest entry of the restored database", async () => {
  await scene();
  const line = { ...(JSON.parse(await aLine()) as object), created_at: "2099-01-01T00:00:00.000Z", finished_at: null };
  await expect(run(fromFile(await fileOf(`${JSON.stringify(line)}\n`)))).rejects.toThrow(/name the files before, too/);
});

it("asks about a tier and a verification that are others", async () => {
  await scene();
  const change = async (): Promise<void> => {};
  await audited("brand.set_tier", brand.id, { actor: null }, change);
  await audited("brand.set_verified", brand.id, { actor: null }, change);
  expect(await run(fromFile(await exported("open.ndjson")))).toMatchObject({ to_look_at: 2 });
});

it.each([
  ["that is not there", async () => join(folder, "absent.ndjson"), /cannot be read: ENOENT/],
  ["that is a folder", async () => folder, /cannot be read: EISDIR/],
  ["that is empty", () => fileOf(""), /is empty/],
  ["of something else", () => fileOf("hello\n"), /line 1 is no entry/],
  ["with a broken line in the middle", async () => fileOf(`${await aLine()}{"id"\n${await aLine()}`), /line 2 is no entry/],
  [
    "with a time that is none",
    async () => fileOf((await aLine()).replace(/"created_at":"[^"]*"/, '"created_at":"today"')),
    /line 1 is no entry/,
  ],
])("refuses a file %s, and takes nothing", async (_what, path, message) => {
  await scene();
  const file = await path();
  await expect(run(fromFile(file))).rejects.toThrow(message);
  expect((await restored.accounts.listMembers({ brand_id: brand.id })).members).toHaveLength(4);
});

it("reads a file whose last line a kill has cut off", async () => {
  const made = await scene();
  const path = await exported("cut.ndjson");
  await appendFile(path, '{"id":"aud_cut","brand_id":"brd_');
  expect(await run(fromFile(path))).toMatchObject({ keys_revoked: 1, members_removed: 1 });
  await expectTaken(made);
});

let files = 0;
async function fileOf(text: string): Promise<string> {
  const path = join(folder, `other-${(files += 1)}.ndjson`);
  await writeFile(path, text);
  return path;
}
async function aLine(): Promise<string> {
  const [row] = await live.db.query("select * from accounts.audit_entries limit 1");
  return `${JSON.stringify(row)}\n`;
}
