import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peopleOf } from "../../../test/people.ts";
import { runAfterRestore } from "../../../test/run-after-restore.ts";
import { expectRefusal, servedAccounts, type TestBrand } from "../../../test/serve-accounts.ts";
import type { AfterRestoreOptions } from "./after-restore.ts";

/** Two databases: one as the backup had it, and one that has what has happened since. */
const restored = servedAccounts();
const live = servedAccounts();
const people = peopleOf(live);
let folder: string;
let brand: TestBrand;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "lost-rights-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Puts live's rows into the restored database, as a backup of this moment. */
async function backUp(): Promise<void> {
  for (const table of ["brands", "members", "keys", "identities", "audit_entries"]) {
    const [all] = await live.db.query<{ rows: string }>(`select coalesce(jsonb_agg(t), '[]')::text as rows from accounts.${table} t`);
    await restored.db.query(
      `insert into accounts.${table} select * from jsonb_populate_recordset(null::accounts.${table}, $1::jsonb) on conflict do nothing`,
      [all?.rows],
    );
  }
}

let files = 0;
async function fileOf(text: string): Promise<string> {
  const path = join(folder, `${(files += 1)}.ndjson`);
  await writeFile(path, text);
  return path;
}
/** Returns the lines of `brandctl audit export`. */
const exportedLines = async (): Promise<string[]> =>
  (await live.db.query("select * from accounts.audit_entries order by coalesce(finished_at, created_at), id")).map(
    (row) => `${JSON.stringify(row)}\n`,
  );
const exported = async (): Promise<string> => fileOf((await exportedLines()).join(""));

const run = (path: string, { mayHaveGap = false, ...more }: { mayHaveGap?: boolean } & Partial<AfterRestoreOptions> = {}) =>
  runAfterRestore(restored, { audit: { paths: [path], keepDays: 730, mayHaveGap }, ...more });
const membersOf = async () => (await restored.accounts.listMembers({ brand_id: brand.id })).members;

const ONE_EACH = { keys_revoked: 1, members_removed: 1, owners_demoted: 1, people_unlinked: 1 };

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
  const addressOf = (name: string): string => `${name}@${brand.id.slice(4)}.example`;
  const [removed, demoted, unlinked] = [addressOf("removed"), addressOf("demoted"), addressOf("unlinked")];
  for (const email of [removed, demoted]) await people.addMember(brand, email, "owner");
  await people.addMember(brand, unlinked);
  const [revoked, staying] = [(await live.createKey(brand)).id, (await live.createKey(brand)).id];
  for (const email of [unlinked, brand.owner])
    await live.db.query("insert into accounts.identities (issuer, subject, email) values ('https://idp.example', $1, $1)", [email]);
  await backUp();
  const { accounts } = live;
  await accounts.revokeKey({ key_id: revoked, revoked_by: brand.owner });
  await people.removeMember(brand, removed.toUpperCase());
  await accounts.setMemberRole({ brand_id: brand.id, email: demoted, role: "member" });
  await live.signIn.unlinkIdentities({ email: unlinked });
  return { revoked, staying, removed, demoted, unlinked };
}

async function expectTaken({ revoked, staying, demoted, unlinked }: Scene): Promise<void> {
  const { keys } = await restored.accounts.listKeys({ brand_id: brand.id, ids: [] });
  expect(keys.filter(({ revoked_at }) => revoked_at != null).map(({ id }) => id)).toEqual([revoked]);
  expect(keys.map(({ id }) => id)).toContain(staying);
  expect(Object.fromEntries((await membersOf()).map(({ email, role }) => [email, role]))).toEqual({
    [brand.owner]: "owner",
    [demoted]: "member",
    [unlinked]: "member",
  });
  const identities = await restored.db.query("select email from accounts.identities where email like $1", [
    `%@${brand.id.slice(4)}.example`,
  ]);
  expect(identities).toEqual([{ email: brand.owner }]);
}

it("takes away again what has ended since the backup, once", async () => {
  const made = await scene();
  const path = await exported();
  expect(await run(path)).toMatchObject({ ...ONE_EACH, withoutOwner: [] });
  await expectTaken(made);
  const { entries } = await restored.audit.listAudit({ brand_id: brand.id, page_size: 0, actor: "operator" });
  const ours = entries.filter(({ request_id }) => request_id === "after-restore");
  expect(Object.fromEntries(ours.map(({ action, subject_id }) => [action, subject_id]))).toEqual({
    "key.revoke": made.revoked,
    "member.remove": made.removed,
    "member.set_role": made.demoted,
    "identity.unlink": made.unlinked,
  });
  expect(await run(path)).toMatchObject({ keys_revoked: 0, members_removed: 0, owners_demoted: 0, people_unlinked: 0 });
});

it("takes the rest when it is repeated after an interruption", async () => {
  const made = await scene();
  const path = await exported();
  // A young system: nothing was written before the backup, and what is there at the repetition is of the first run.
  await restored.db.query("delete from accounts.audit_entries");
  const onTaken = () => Promise.reject(new Error("interrupted"));
  await expect(run(path, { onTaken })).rejects.toThrow("interrupted");
  const { keys_revoked, members_removed, owners_demoted, people_unlinked } = await run(path);
  expect(keys_revoked + members_removed + owners_demoted + people_unlinked).toBe(3);
  await expectTaken(made);
});

it("takes the last owner, and says that the brand has none", async () => {
  const made = await scene();
  const path = await exported();
  const entry = { id: "aud_last", brand_id: brand.id, action: "member.remove", subject_id: brand.owner, outcome: null };
  await appendFile(path, `${JSON.stringify({ ...entry, created_at: new Date().toISOString() })}\n`);
  expect((await run(path)).withoutOwner).toEqual([brand.id]);
  expect((await membersOf()).map(({ email }) => email).toSorted()).toEqual([made.demoted, made.unlinked].toSorted());
});

it("deletes the rights of a brand that was deleted since", async () => {
  const { staying } = await scene();
  await live.operator.beginBrandDeletion({ brand_id: brand.id, resume: false });
  expect(await run(await exported())).toMatchObject({ brands_deleted: 1, withoutOwner: [] });
  expect(await restored.db.query("select from accounts.keys where id = $1", [staying])).toEqual([]);
  await expectRefusal(restored.accounts.getBrand({ brand_id: brand.id }), "not_found");
  // The operator's deletion goes on from here.
  expect(await restored.operator.beginBrandDeletion({ brand_id: brand.id, resume: true })).toBeDefined();
});

it("takes what a file says also long after people have worked with the restored database again", async () => {
  const made = await scene();
  const path = await exported();
  const signedIn = `insert into accounts.audit_entries (id, brand_id, actor, action, fields, request_id, created_at, outcome, finished_at)
    values ('aud_since', $1, $2, 'session.sign_in_with_link', '{}', 'r', now() + interval '1 hour', 'done', now() + interval '1 hour')`;
  await restored.db.query(signedIn, [brand.id, brand.owner]);
  await expect(run(path)).rejects.toThrow(/the last entry of the files is of .*, before the newest of the restored database/);
  expect(await run(path, { mayHaveGap: true })).toMatchObject(ONE_EACH);
  await expectTaken(made);
  await restored.db.query("delete from accounts.audit_entries where id = 'aud_since'");
});

it("asks about a tier and a verification that are others", async () => {
  await scene();
  await live.accounts.setBrandTier({ brand_id: brand.id, tier: "pro" });
  await live.accounts.setBrandVerified({ brand_id: brand.id, verified: false });
  expect(await run(await exported())).toMatchObject({ to_look_at: 2 });
});

it("refuses a file that is not there, no export, broken, or begins too late, and takes nothing", async () => {
  await scene();
  const [line = ""] = await exportedLines();
  const later = { ...(JSON.parse(line) as object), created_at: "2099-01-01T00:00:00.000Z", finished_at: null };
  for (const [path, message] of [
    [join(folder, "absent.ndjson"), /cannot be read: ENOENT/],
    [folder, /cannot be read: EISDIR/],
    [await fileOf(""), /is empty/],
    [await fileOf("hello\n"), /line 1 is no entry/],
    [await fileOf(`${line}{"id"\n${line}`), /line 2 is no entry/],
    [await fileOf(line.replace(/"created_at":"[^"]*"/, '"created_at":"today"')), /line 1 is no entry/],
    [await fileOf(`${JSON.stringify(later)}\n`), /name the files before, too/],
  ] as const)
    await expect(run(path)).rejects.toThrow(message);
  expect(await membersOf()).toHaveLength(4);
});

it("reads a file whose last line a kill has cut off", async () => {
  const made = await scene();
  const path = await exported();
  await appendFile(path, '{"id":"aud_cut","brand_id":"brd_');
  expect(await run(path)).toMatchObject({ keys_revoked: 1, members_removed: 1 });
  await expectTaken(made);
});
