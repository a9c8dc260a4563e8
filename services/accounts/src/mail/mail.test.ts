import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { openMaintenance } from "@brand-records/service-runtime";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { CertificateAuthority, eventually, type MailServer, startMailServer } from "@brand-records/testkit";
import { peopleOf } from "../../test/people.ts";
import { record } from "../../test/recorded-entry.ts";
import { servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";
import { openMailer, startMail } from "./send-mail.ts";

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
  const mailer = await openMailer({ config, db, maintenance: openMaintenance(log, metrics), metrics, log });
  if (mailer === undefined) throw new Error("expected a mailer");
  const count = async (outcome: string): Promise<number> =>
    Number(new RegExp(`^mails_total\\{.*outcome="${outcome}".*\\} (\\d+)$`, "m").exec(await metrics.metrics())?.[1]);
  const due = () => served.db.query("select from accounts.mails where due_at <= now()");
  const send = async (): Promise<void> => {
    await eventually(async () => {
      await mailer.sendDue();
      await mailer.ended();
      expect(await due()).toEqual([]);
    });
  };
  return { ...mailer, send, count };
}

const receivers = (): string[] => server.mails.flatMap(({ to }) => to).toSorted();
const queued = () => served.db.query("select email, subject from accounts.mails where brand_id = $1 order by email, subject", [brand.id]);
const messageIds = () => server.mails.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1]);
const pausedOf = (id: string) => record(served, brand, { action: "notice.receiver_paused", subject_id: id, actor: null });
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
    // The link names the brand: the person may own several.
    expect(text.match(new RegExp(`${PUBLIC_URL}/developers/mail\\?brand=${brand.id}`, "g"))?.length).toBeGreaterThanOrEqual(3);
    expect(text).toMatch(/^List-Unsubscribe:\s+</m);
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
  // The next try is not due yet.
  await mail.send();
  expect(lines).toHaveLength(6);
  server.refuse(undefined);
  await server.kill();
  await after("4 minutes");
  await mail.send();
  expect([await mail.count("failed"), await mail.count("given_up")]).toEqual([8, 0]);
  expect(lines.map((line) => (line as { retry_in_seconds?: number }).retry_in_seconds)).toEqual([30, 30, 60, 60, 120, 120, 240, 240]);
  await server.start();
  await served.db.query("update accounts.mails set happened_at = '2026-01-01' where email = $1", [other]);
  await after("8 minutes");
  await mail.send();
  expect(receivers()).toEqual([brand.owner]);
  expect([await mail.count("sent"), await mail.count("given_up")]).toEqual([1, 1]);
  await after("1 day");
  await mail.send();
  expect(server.mails).toHaveLength(1);
});

it("gives up each thing after its own day, however often something new happens and every try fails", async () => {
  const keys = [await served.createKey(brand), await served.createKey(brand)];
  server.refuse(550);
  await mail.send();
  await served.db.query(
    "update accounts.mails set tries = 2000, happened_at = now() - interval '25 hours', due_at = now() where id = (select min(id) from accounts.mails)",
  );
  await after("1 hour");
  await mail.send();
  expect(await mail.count("given_up")).toBe(2);
  expect(lines.at(-1)).toMatchObject({ retry_in_seconds: 3_600 });
  server.refuse(undefined);
  await after("1 hour");
  await mail.send();
  expect(server.mails.map(({ text }) => keys.map(({ id }) => text.includes(id)))).toEqual([
    [false, true],
    [false, true],
  ]);
});

it("tells a person nothing who became a member, or had mail switched off, between two tries", async () => {
  await served.createKey(brand);
  server.refuse(451);
  await mail.send();
  await served.accounts.setMemberRole({ brand_id: brand.id, email: brand.owner, role: "member" });
  await served.accounts.setMailSettings({ brand_id: brand.id, acting_member: other, plans_and_keys: false });
  server.refuse(undefined);
  await after("1 minute");
  await mail.send();
  expect([server.mails, await mail.count("given_up")]).toEqual([[], 0]);
});

it("leaves what only another release knows to a process of it", async () => {
  await pausedOf("rcv_1");
  await pausedOf("rcv_2");
  await served.db.query("update accounts.mails set action = 'notice.of_later' where subject = 'rcv_1'");
  await record(served, brand, { action: "notice.receiver_works", subject_id: "rcv_1", actor: null });
  await served.db.query("update accounts.mails set action = 'notice.of_later' where subject = 'rcv_2'");
  await mail.send();
  const subjects = server.mails.map(({ text }) => /^Subject: Tindahan: (.*)\r$/m.exec(text)?.[1]);
  expect(subjects).toEqual(["Receiver works again", "Receiver works again"]);
  const waiting = await served.db.query("select from accounts.mails where action = 'notice.of_later' and due_at is not null");
  expect(waiting).toHaveLength(4);
});

it("sends a mail again whose end was not noted, with the same id, and no other twice, by several processes", async () => {
  for (let n = 0; n < 12; n += 1) await pausedOf(`rcv_${n}`);
  let failing = 3;
  const query: Database["query"] = (statement, values) => {
    const isNote = typeof statement !== "string" && statement.name === "mails.settle";
    if (isNote && (failing -= 1) >= 0) throw new AppError("unavailable", "The process ends here.");
    return served.db.query(statement, values);
  };
  const ending = await openProcess({ db: { ...served.db, query } });
  await ending.sendDue();
  await Promise.all([ending.ended(), ...[mail, await openProcess()].map(({ send }) => send())]);
  expect([server.mails.length, new Set(messageIds()).size]).toEqual([24, 24]);
  await after("2 minutes");
  await mail.send();
  expect([server.mails.length, new Set(messageIds()).size]).toEqual([27, 24]);
});

it("sends a mail again with the same id if the server ended before its reply", async () => {
  await served.accounts.setMailSettings({ brand_id: brand.id, acting_member: other, plans_and_keys: false });
  await served.createKey(brand);
  server.loseReplies(1);
  await mail.send();
  expect([server.mails.length, await mail.count("failed")]).toEqual([1, 1]);
  await after("30 seconds");
  await mail.send();
  expect([server.mails.length, await mail.count("sent"), new Set(messageIds()).size]).toEqual([2, 1, 1]);
});

it("sends to others while the server keeps one mail waiting; a stop waits for it, so that it is not sent twice", async () => {
  const release = server.hold(brand.owner);
  await served.createKey(brand);
  const started = startMail(mail);
  await eventually(() => expect(receivers()).toEqual([brand.owner, other].toSorted()));
  for (const n of [1, 2, 3]) await pausedOf(`rcv_${n}`);
  await eventually(() => expect(receivers().filter((to) => to === other)).toHaveLength(4));
  const stopping = started.stop();
  release();
  await stopping;
  expect(await mail.count("sent")).toBe(server.mails.length);
  await after("10 minutes");
  await mail.send();
  expect(receivers().filter((to) => to === brand.owner)).toHaveLength(4);
});

it("tells the last 50 things in a mail, and how many more there are", async () => {
  for (let n = 0; n < 60; n += 1) await record(served, brand, { action: "notice.plan_prepared", subject_id: `pln_${n}`, actor: null });
  await mail.send();
  const [first] = server.mails;
  expect(first?.text).toContain("The console shows 10 more.");
  expect(first?.text).not.toMatch(/plans\/pln_9\b/);
  expect(new Set(first?.text.match(/plans\/pln_\d+/g)).size).toBe(50);
});

describe("TLS", () => {
  it("is required: without STARTTLS, or from a server of another name or that no authority vouches for, nothing is sent, no password either", async () => {
    const plain = await startMailServer({ host: HOST });
    const another = await startMailServer({ host: HOST, certificate: authority.issue("another", { names: ["IP:127.0.0.3"] }) });
    await served.createKey(brand);
    const untold = await openProcess({ url: `smtp://user:password@${HOST}:${plain.port}` });
    await untold.send();
    await after("1 minute");
    const unknown = await openProcess({ ca: "" });
    await unknown.send();
    await after("2 minutes");
    const misnamed = await openProcess({ url: `smtp://user:password@${HOST}:${another.port}` });
    await misnamed.send();
    expect(await Promise.all([untold, unknown, misnamed].map(({ count }) => count("failed")))).toEqual([2, 2, 2]);
    expect([plain.mails, another.mails, server.mails, lines.length]).toEqual([[], [], [], 6]);
    await Promise.all([plain.stop(), another.stop()]);
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
