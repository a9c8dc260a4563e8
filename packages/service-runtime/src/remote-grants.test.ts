import { randomBytes } from "node:crypto";
import { AppError } from "@brand-records/errors";
import { signGrant, signingKeyFrom, type Grant, type SigningKey } from "@brand-records/grant";
import { SessionsServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, newCallContext } from "@brand-records/rpc";
import { RemoteGrants } from "./remote-grants.ts";

const [one, two] = [signingKeyFrom("1", randomBytes(32)), signingKeyFrom("2", randomBytes(32))];
const GRANT: Grant = {
  email: "ana@ulap.example",
  via: null,
  limitedTo: null,
  session: randomBytes(32).toString("base64url"),
  brand: { id: "brd_1", role: "member" },
};
const READ = { brandId: "brd_1", bySignature: true };
const CHANGE = { brandId: "brd_1", bySignature: false };
const call = () => newCallContext(60_000, "test");

/** Accounts with these keys. Counts how often they are read. */
function withKeys(...keys: SigningKey[]) {
  const known = { keys, reads: 0, checks: 0 };
  const grants = new RemoteGrants(
    {
      async listGrantKeys() {
        known.reads += 1;
        return { keys: known.keys.map(({ id, publicKey }) => ({ id, public_key: publicKey })) };
      },
      async checkGrant() {
        known.checks += 1;
        return { email: GRANT.email, role: "owner" };
      },
    },
    "webhook",
  );
  return { known, prove: async (by: SigningKey, need = READ) => grants.prove(await signGrant(GRANT, "webhook", by), need, call()) };
}

afterEach(() => jest.restoreAllMocks());

it("proves by the signature with keys that are read once, also by calls at the same time", async () => {
  const { known, prove } = withKeys(one);
  const proved = await Promise.all(Array.from({ length: 5 }, () => prove(one)));
  expect(proved[0]).toEqual({ email: GRANT.email, via: null, limitedTo: null, brand: { id: "brd_1", role: "member" } });
  await prove(one);
  expect(known).toMatchObject({ reads: 1, checks: 0 });
  await expect(prove(one, { brandId: "brd_2", bySignature: true })).rejects.toMatchObject({ kind: "not_found" });
});

it("asks accounts where the signature does not suffice", async () => {
  const { known, prove } = withKeys();
  expect(await prove(one, CHANGE)).toMatchObject({ brand: { id: "brd_1", role: "owner" } });
  expect(known).toMatchObject({ reads: 0, checks: 1 });
});

it("reads the keys again for an unknown one, once a second at most, and forgets those that accounts has no more", async () => {
  const { known, prove } = withKeys(one);
  const started = performance.now();
  const at = (ms: number) => jest.spyOn(performance, "now").mockReturnValue(started + ms);
  at(2_000);
  await prove(one);
  known.keys = [two];
  for (let n = 0; n < 3; n += 1) await expect(prove(two)).rejects.toMatchObject({ kind: "unavailable" });
  expect(known.reads).toBe(1);
  at(3_500);
  await prove(two);
  await expect(prove(one)).rejects.toMatchObject({ kind: "unavailable" });
  known.keys = [one];
  at(60_000);
  await prove(two);
  at(64_000);
  await expect(prove(two)).rejects.toMatchObject({ kind: "unavailable" });
  expect(known.reads).toBe(3);
});

it("is unavailable while accounts is away, and reports an accounts release that has no grants", async () => {
  const client = connectRpc(SessionsServiceService, "127.0.0.1:1");
  const grant = await signGrant(GRANT, "webhook", one);
  const away = new RemoteGrants(client, "webhook");
  for (const need of [READ, CHANGE]) await expect(away.prove(grant, need, call())).rejects.toMatchObject({ kind: "unavailable" });
  client.stop();
  const unimplemented = () => Promise.reject(new AppError("internal_error", "The server does not implement it", { cause: { code: 12 } }));
  const old = new RemoteGrants({ listGrantKeys: unimplemented, checkGrant: unimplemented }, "webhook");
  for (const need of [READ, CHANGE]) expect(await old.prove(grant, need, call())).toBeUndefined();
});
