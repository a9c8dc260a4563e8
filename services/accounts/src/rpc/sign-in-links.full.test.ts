import { randomBytes } from "node:crypto";
import type { Sql } from "@brand-records/postgres";
import { callBehind, expectRefusal, servedAccounts, settled } from "../../test/serve-accounts.ts";
import { deleteMember } from "../storage/members.ts";
import { lockPerson } from "../storage/people.ts";
import { deleteLinksOf } from "../storage/sign-in-links.ts";
import { peopleOf } from "../../test/people.ts";

const served = servedAccounts();
const people = peopleOf(served);

const create = (email: string, ttl_seconds = 0) => served.signIn.createSignInLink({ email, ttl_seconds });

it("tells whom it signs in, any number of times, and does it once", async () => {
  const { email } = await people.newPerson();
  const { token, expires_at } = await create(email.toUpperCase());
  for (const _ of [1, 2]) expect(await people.peek(token)).toEqual({ email, expires_at, brand_name: null });
  const session = await people.redeem(token);
  expect(session?.email).toBe(email);
  const got = await people.get(session?.token ?? "");
  expect(got.session).toMatchObject({ email, ends_at: session?.ends_at });
  expect(got.session?.issuer).toBeNull();
  for (const call of [people.redeem, people.peek]) await expectRefusal(call(token), "sign_in_link_used");
});

it("opens one session when it is redeemed many times at once, by two processes", async () => {
  const other = peopleOf(await served.alsoWith({}));
  for (let round = 0; round < 5; round += 1) {
    const { email } = await people.newPerson();
    const token = await people.link(email);
    const { refused } = await settled(Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? people : other).redeem(token)));
    expect(refused).toEqual(Array(7).fill("sign_in_link_used"));
    expect(await people.sessionsOf(email)).toBe(1);
  }
});

it("lives 15 minutes by default, a minute at least and a day at most", async () => {
  const { email } = await people.newPerson();
  const secondsLeft = async (ttl: number) => Math.round((Date.parse((await create(email, ttl)).expires_at) - Date.now()) / 10_000) * 10;
  expect([await secondsLeft(0), await secondsLeft(60), await secondsLeft(86_400)]).toEqual([900, 60, 86_400]);
  for (const ttl of [-1, 59, 86_401]) await expectRefusal(create(email, ttl), "invalid_request", "ttl_seconds");
});

it("is refused as expired after its time, and as used if it was used before", async () => {
  const { email } = await people.newPerson();
  const [unused, used] = [await people.link(email), await people.link(email)];
  await people.redeem(used);
  for (const token of [unused, used]) await people.moveBack("sign_in_links", "expires_at", token, 901);
  for (const call of [people.redeem, people.peek]) await expectRefusal(call(unused), "sign_in_link_expired");
  await expectRefusal(people.redeem(used), "sign_in_link_used");
});

it.each([
  ["nothing", ""],
  ["a token that was never made", randomBytes(32).toString("base64url")],
  ["a shorter token", randomBytes(31).toString("base64url")],
  ["another spelling of a token", `${"A".repeat(42)}B`],
])("is unknown for %s", async (_, token) => {
  for (const call of [people.redeem, people.peek]) await expectRefusal(call(token), "sign_in_link_unknown");
});

it("is made for members only", async () => {
  await expectRefusal(create("stranger@example.ph"), "no_membership");
  await expectRefusal(create("stranger"), "invalid_request", "email");
});

it("is gone once its person was removed from the last brand, also after the person is added again", async () => {
  const { brand, email } = await people.newPerson();
  const token = await people.link(email);
  await people.removeMember(brand, email);
  await people.addMember(brand, email);
  for (const call of [people.redeem, people.peek]) await expectRefusal(call(token), "sign_in_link_unknown");
});

it("remains while its person has another brand", async () => {
  const { brand, email } = await people.newPerson();
  await people.addMember(await served.createBrand(), email);
  const token = await people.link(email);
  await people.removeMember(brand, email);
  expect((await people.redeem(token))?.email).toBe(email);
});

it("leaves no session behind when it is redeemed during the removal", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { brand, email } = await people.newPerson();
    const token = await people.link(email);
    await Promise.allSettled([people.redeem(token), people.removeMember(brand, email)]);
    expect(await people.sessionsOf(email)).toBe(0);
  }
});

it("is in the audit log of each brand that it opens, as the operator's", async () => {
  const { brand, email } = await people.newPerson();
  const other = await served.createBrand();
  await people.addMember(other, email);
  const token = await people.link(email);
  for (const { id } of [brand, other]) {
    const { entries } = await served.audit.listAudit({ brand_id: id, action: "sign_in_link", page_size: 0 });
    expect(entries).toEqual([expect.objectContaining({ action: "sign_in_link.create", subject_id: email, outcome: "done" })]);
    expect(entries[0]?.actor).toBeNull();
    expect(JSON.stringify(entries)).not.toContain(token);
  }
});

it("is not made while its person is removed from the last brand: it could sign in another human later", async () => {
  const { brand, email } = await people.newPerson();
  const remove = async (sql: Sql): Promise<void> => {
    await deleteMember(sql, brand.id, email);
    await deleteLinksOf(sql, email);
  };
  const lock = (sql: Sql) => lockPerson(sql, email);
  expect((await callBehind(served.db, lock, () => people.link(email), remove)).refused).toEqual(["no_membership"]);
});
