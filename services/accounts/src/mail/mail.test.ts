import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { CertificateAuthority, type MailServer, startMailServer } from "@brand-records/testkit";
import { peopleOf } from "../../test/people.ts";
import { record } from "../../test/recorded-entry.ts";
import { servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { openMail } from "./send-mail.ts";

/**
 * One promise: owners who have not switched it off get mail of what happens, once, at most one an hour of a subject, over TLS, and nothing in it
 * is personal or secret.
 */

const PUBLIC_URL = "https://records.example";
const served = servedAccounts(() => ({ sendsMail: true }));
const people = peopleOf(served);
const folder = mkdtempSync(join(tmpdir(), "mail-"));
const authority = new CertificateAuthority(folder);
/** No loopback name: TLS is required there. */
const HOST = "127.0.0.2";
const certificate = authority.issue("mail", { names: [`IP:${HOST}`] });
const lines: object[] = [];
const log = Object.assign(openLog("accounts", "silent"), {
  warn: (fields: object) => void lines.push(fields),
  error: (fields: object) => void lines.push(fields),
});

let server: MailServer;
let brand: TestBrand;
let other: string;
let mail: Awaited<ReturnType<typeof openProcess>>;

beforeAll(async () => void (server = await startMailServer({ host: HOST, certificate })));
beforeEach(async () => {
  server.mails.length = 0;
  server.refuse(undefined);
  lines.length = 0;
  brand = await served.createBrand();
  other = `ben@${brand.id.slice(4)}.example`;
  await people.addMember(brand, other, "owner");
  await people.addMember(brand, `member.${other}`);
  mail = await openProcess();
});
afterEach(() => served.db.query("delete from accounts.mails"));
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** A process that sends mail. */
async function openProcess({
  db = served.db,
  url = `smtp://mail%40records.example:p%2Fw@${HOST}:${server.port}`,
  ca = certificate.ca,
} = {}) {
  const metrics = openMetrics("accounts");
  const config = { SMTP_URL: url, ...(ca !== "" && { SMTP_TLS_CA: ca }), MAIL_FROM: "no-reply@records.example", PUBLIC_URL };
  const sendDue = await openMail({ config, db, maintenance: openMaintenance(log, metrics), metrics, log });
  const count = async (outcome: string): Promise<number> =>
    Number(new RegExp(`^mails_total\\{.*outcome="${outcome}".*\\} (\\d+)$`, "m").exec(await metrics.metrics())?.[1]);
  const due = () => served.db.query("select from accounts.mails where due_at <= now()");
  const send = async (): Promise<void> => {
    do await sendDue?.();
    while ((await due()).length > 0);
  };
  return { sendDue: async () => sendDue?.(), send, count };
}

const receivers = (): string[] => server.mails.flatMap(({ to }) => to).toSorted();
const queued = () => served.db.query("select email, subject from accounts.mails where brand_id = $1 order by email, subject", [brand.id]);
/** Moves what is queued into the past. */
const after = (time: string) =>
  served.db.query(`update accounts.mails set due_at = due_at - $1::interval, sent_at = sent_at - $1::interval`, [time]);

it("tells each owner that a key was created, with links, in text and HTML, and nothing personal or secret", async () => {
  const { id, secret } = await served.createKey(brand, { name: "Looker of Ana" });
  await mail.send();
  expect(receivers()).toEqual([brand.owner, other].toSorted());
  for (const { to, text, isSecure, user } of server.mails) {
    expect([isSecure, user]).toEqual([true, "mail@records.example"]);
    for (const header of [
      "From: Brand Records <no-reply@records.example>",
      "Subject: Tindahan: API key created",
      "Auto-Submitted: auto-generated",
    ])
      expect(text).toContain(header);
    expect(text).toMatch(/^Message-ID: <[0-9a-f]{32}@records\.example>\r$/m);
    expect(text.match(/^Content-Type: text\/(plain|html)/gm)).toHaveLength(2);
    expect(text.match(new RegExp(`${PUBLIC_URL}/developers/keys\\?key=${id}`, "g"))?.length).toBeGreaterThanOrEqual(2);
    expect(text).toContain(`${PUBLIC_URL}/developers/mail`);
    const addresses = text.match(/[\w.+-]+@[\w.-]+/g) ?? [];
    expect(addresses.filter((address) => !address.endsWith("@records.example") && address !== to[0])).toEqual([]);
    for (const hidden of [secret, "Looker", "Ana"]) expect(text).not.toContain(hidden);
  }
  await mail.send();
  expect([server.mails.length, await mail.count("sent")]).toEqual([2, 2]);
});

it("sends one mail an hour of a subject, with all that happened meanwhile, and of other subjects at once", async () => {
  const first = await served.createKey(brand);
  await served.createKey(brand);
  await mail.send();
  expect(server.mails.filter(({ text }) => text.includes("API key created (and 1 more)"))).toHaveLength(2);
  await served.accounts.revokeKey({ key_id: first.id, revoked_by: brand.owner });
  await record(served, brand, { action: "notice.receiver_paused", subject_id: "rcv_1", actor: null });
  await record(served, brand, { action: "notice.receiver_gone", subject_id: "rcv_2", actor: null });
  await mail.send();
  const subjects = () => server.mails.splice(0).map(({ text }) => /^Subject: Tindahan: (.*)\r$/m.exec(text)?.[1] ?? "");
  expect(subjects().slice(2).toSorted()).toEqual(["Receiver disabled", "Receiver disabled", "Receiver paused", "Receiver paused"]);
  await after("59 minutes");
  await mail.send();
  expect(subjects()).toEqual([]);
  await record(served, brand, { action: "notice.receiver_works", subject_id: "rcv_1", actor: null });
  await after("1 minute");
  await mail.send();
  expect(subjects().toSorted()).toEqual(["API key revoked", "API key revoked", "Receiver works again", "Receiver works again"]);
});

it("tells what plans and webhook hand over once, however often they do; notices are in no audit log", async () => {
  const prepared = { id: "aud_prepared", action: "notice.plan_prepared", subject_id: "pln_1", actor: null };
  const disabled = { id: "aud_disabled", action: "receiver.disable", subject_id: "rcv_1" };
  const hand = async (): Promise<void> => {
    for (const given of [prepared, disabled]) await record(served, brand, given);
  };
  await hand();
  await hand();
  await mail.send();
  await hand();
  await after("1 hour");
  await mail.send();
  expect(server.mails).toHaveLength(4);
  const plan = server.mails.find(({ text }) => text.includes("pln_1"));
  expect(plan?.text).toContain(`${PUBLIC_URL}/workspaces/ugc/plans/pln_1`);
  const entries = await served.db.query("select action from accounts.audit_entries where id = any($1)", [[prepared.id, disabled.id]]);
  expect(entries).toEqual([{ action: "receiver.disable" }]);
});

it("queues nothing of what was refused, is older than a day, concerns no mail or another brand, or did not commit", async () => {
  const yesterday = new Date(Date.now() - 86_401_000).toISOString();
  await record(served, brand, { action: "receiver.disable", subject_id: "rcv_1", outcome: "failed", error_kind: "not_found" });
  await record(served, brand, { action: "notice.plan_prepared", subject_id: "pln_1", created_at: yesterday });
  await record(served, brand, { action: "receiver.create", subject_id: "rcv_1" });
  await record(served, { id: "brd_unknown", owner: "" }, { action: "notice.plan_prepared", subject_id: "pln_1", actor: null });
  const rollingBack: Database = {
    ...served.db,
    transaction: (work, options) =>
      served.db.transaction(async (sql) => {
        await work(sql);
        throw new AppError("unavailable", "The connection broke before the commit.");
      }, options),
  };
  const { createKey } = await served.alsoWith({ db: rollingBack });
  await expect(createKey(brand)).rejects.toMatchObject({ kind: "unavailable" });
  expect(await queued()).toEqual([]);
  const withoutServer = await served.alsoWith({ sendsMail: false });
  await withoutServer.createKey(brand);
  expect(await queued()).toEqual([]);
});

it("an owner switches mail off for the brand, also of what waits, and on again", async () => {
  const owner = { brand_id: brand.id, acting_member: other };
  expect(await served.accounts.getMailSettings(owner)).toEqual({ receivers: true, plans_and_keys: true, sends_mail: true });
  await served.createKey(brand);
  await served.accounts.setMailSettings({ ...owner, plans_and_keys: false });
  expect(await served.accounts.getMailSettings(owner)).toMatchObject({ receivers: true, plans_and_keys: false });
  await mail.send();
  await record(served, brand, { action: "notice.receiver_paused", subject_id: "rcv_1", actor: null });
  await record(served, brand, { action: "notice.plan_prepared", subject_id: "pln_1", actor: null });
  await mail.send();
  expect(receivers()).toEqual([brand.owner, brand.owner, brand.owner, other].toSorted());
  await served.accounts.setMailSettings({ ...owner, plans_and_keys: true });
  await served.createKey(brand);
  await mail.send();
  expect(receivers().filter((to) => to === other)).toHaveLength(2);
});

it("keeps nothing of a person who leaves, and tells a former owner nothing", async () => {
  await served.createKey(brand);
  const [{ mails } = { mails: [] }] = (await people.exported(other)).memberships;
  expect(mails).toEqual(["keys"]);
  await people.removeMember(brand, other);
  await served.accounts.addMember({ brand_id: brand.id, email: `third.${other}`, role: "owner" });
  await served.accounts.setMemberRole({ brand_id: brand.id, email: brand.owner, role: "member" });
  expect(await queued()).toEqual([{ email: brand.owner, subject: "keys" }]);
  await mail.send();
  expect(server.mails).toEqual([]);
});

it("tries again later while the server refuses or is away, and gives up after a day", async () => {
  await served.createKey(brand);
  server.refuse(451);
  for (const minutes of [0, 1, 2]) {
    await after(`${minutes} minutes`);
    await mail.send();
  }
  expect(lines).toHaveLength(6);
  expect(lines[0]).toMatchObject({ brand_id: brand.id, subject: "keys", tries: 1, smtp_status: 451 });
  expect(JSON.stringify(lines)).not.toContain("@");
  // Not due.
  await mail.send();
  expect(lines).toHaveLength(6);
  server.refuse(undefined);
  await server.kill();
  await after("4 minutes");
  await mail.send();
  expect([await mail.count("failed"), await mail.count("given_up")]).toEqual([8, 0]);
  await server.start();
  const ofOther = "email = $1";
  await served.db.query(
    `update accounts.mails set notices = jsonb_set(notices, '{0,at}', to_jsonb('2026-01-01T00:00:00.000Z'::text)) where ${ofOther}`,
    [other],
  );
  await after("8 minutes");
  await mail.send();
  expect(receivers()).toEqual([brand.owner]);
  expect([await mail.count("sent"), await mail.count("given_up")]).toEqual([1, 1]);
  await after("1 day");
  await mail.send();
  expect(server.mails).toHaveLength(1);
});

it("sends a mail again whose end was not noted, with the same id, and no other twice, by several processes", async () => {
  for (let n = 0; n < 12; n += 1) await record(served, brand, { action: "notice.receiver_paused", subject_id: `rcv_${n}`, actor: null });
  let failing = 3;
  const query: Database["query"] = (statement, values) => {
    const isNote = typeof statement !== "string" && statement.name === "mails.settle";
    if (isNote && (failing -= 1) >= 0) throw new AppError("unavailable", "The process ends here.");
    return served.db.query(statement, values);
  };
  const processes = [await openProcess({ db: { ...served.db, query } }), mail, await openProcess()];
  await Promise.all(processes.map(({ sendDue }) => sendDue()));
  await mail.send();
  const ids = () => server.mails.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1]);
  expect(new Set(ids()).size).toBe(24);
  const before = ids().length;
  expect(before).toBe(24);
  await after("2 minutes");
  await mail.send();
  expect([ids().length, new Set(ids()).size]).toEqual([27, 24]);
});

it("tells at most 50 things in a mail, and says that there may be more", async () => {
  for (let n = 0; n < 60; n += 1) await record(served, brand, { action: "notice.plan_prepared", subject_id: `pln_${n}`, actor: null });
  await mail.send();
  const [first] = server.mails;
  expect(first?.text).toContain("There may be more");
  expect(new Set(first?.text.match(/plans\/pln_\d+/g)).size).toBe(50);
});

describe("TLS", () => {
  it("is required: without STARTTLS, or from a server that no authority vouches for, nothing is sent, no password either", async () => {
    const plain = await startMailServer({ host: HOST });
    await served.createKey(brand);
    const untold = await openProcess({ url: `smtp://user:password@${HOST}:${plain.port}` });
    await untold.send();
    await after("1 minute");
    const unknown = await openProcess({ ca: "" });
    await unknown.send();
    expect([await untold.count("failed"), await unknown.count("failed")]).toEqual([2, 2]);
    expect([plain.mails, server.mails, lines.length]).toEqual([[], [], 4]);
    await plain.stop();
  });

  it("is there from the start with smtps, and may be missing on this machine alone", async () => {
    const [secure, local] = [await startMailServer({ host: HOST, certificate, secure: true }), await startMailServer()];
    await served.createKey(brand);
    await (await openProcess({ url: `smtps://${HOST}:${secure.port}` })).send();
    expect(secure.mails.map(({ isSecure }) => isSecure)).toEqual([true, true]);
    await served.accounts.setMailSettings({ brand_id: brand.id, acting_member: other, receivers: false });
    await record(served, brand, { action: "notice.receiver_paused", subject_id: "rcv_1", actor: null });
    await (await openProcess({ url: `smtp://127.0.0.1:${local.port}` })).send();
    expect(local.mails.map(({ isSecure, to }) => [isSecure, to])).toEqual([[false, [brand.owner]]]);
    await Promise.all([secure.stop(), local.stop()]);
  });
});
