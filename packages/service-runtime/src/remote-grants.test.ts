import { AppError } from "@brand-records/errors";
import { SessionsServiceService, type CheckGrantRequest, type CheckGrantResponse } from "@brand-records/proto/accounts/v1";
import { connectRpc, newCallContext } from "@brand-records/rpc";
import { RemoteGrants } from "./remote-grants.ts";

const OF_BRAND = "brd_1";
const call = () => newCallContext(60_000, "test");

/** Proves what accounts answers. */
const answered = (checkGrant: (request: Partial<CheckGrantRequest>) => Promise<Partial<CheckGrantResponse> & { email: string }>) =>
  new RemoteGrants({ checkGrant }, "webhook");

it("asks accounts about every grant, for its own service and the brand of the call", async () => {
  const asked: unknown[] = [];
  const grants = answered(async (request) => {
    asked.push(request);
    return { email: "ana@ulap.example", role: "owner", via: "ben@ulap.example", client: { address: "203.0.113.7" } };
  });
  const client = { address: "203.0.113.7", browser: null };
  const person = { email: "ana@ulap.example", via: "ben@ulap.example", limitedTo: null, client };
  for (let n = 0; n < 2; n += 1)
    expect(await grants.prove("g", OF_BRAND, call())).toEqual({ ...person, brand: { id: "brd_1", role: "owner" } });
  expect(await grants.prove("g", undefined, call())).toEqual({ ...person, brand: null });
  const ofBrand = { grant: "g", audience: "webhook", brand_id: "brd_1" };
  expect(asked).toEqual([ofBrand, ofBrand, { ...ofBrand, brand_id: undefined }]);
});

it("passes on what accounts says of the person and the grant; anything else leaves open who acts", async () => {
  for (const [kind, passedOn] of [
    ["invalid_session", "invalid_session"],
    ["not_found", "not_found"],
    ["timeout", "timeout"],
    ["internal_error", "unavailable"],
  ] as const) {
    const grants = answered(() => Promise.reject(new AppError(kind, "no")));
    await expect(grants.prove("g", OF_BRAND, call())).rejects.toMatchObject({ kind: passedOn });
  }
});

it("is unavailable while accounts is away", async () => {
  const client = connectRpc(SessionsServiceService, "127.0.0.1:1");
  const away = new RemoteGrants(client, "webhook");
  await expect(away.prove("g", OF_BRAND, call())).rejects.toMatchObject({ kind: "unavailable" });
  client.stop();
});
