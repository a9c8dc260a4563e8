import { AppError } from "@brand-records/errors";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, newCallContext, type RpcClient } from "@brand-records/rpc";
import { Memberships } from "./memberships.ts";

const OWNER = "ana@ulap.example";
const MEMBER = "ben@ulap.example";
const OTHER = "eve@ulap.example";
const CALL_MS = 60_000;

type ListMembers = RpcClient<AccountsServiceService>["listMembers"];

const memberOf = (email: string, role: string) => ({ brand_id: "brd_1", email, role, created_at: "2026-11-20T08:00:00.000Z" });

function membershipsOf(...roles: readonly (readonly [email: string, role: "owner" | "member"])[]): Memberships {
  const members = roles.map(([email, role]) => memberOf(email, role));
  return new Memberships({ listMembers: async () => ({ members }) });
}

function refusing(error: Error): Memberships {
  const listMembers: ListMembers = async () => {
    throw error;
  };
  return new Memberships({ listMembers });
}

const brand = membershipsOf([OWNER, "owner"], [MEMBER, "member"]);
const requireMember = (memberships: Memberships, email: string) => memberships.requireMember("brd_1", email, newCallContext(CALL_MS));
const requireOwner = (memberships: Memberships, email: string) =>
  memberships.requireOwner("brd_1", email, "paint doors", newCallContext(CALL_MS));

it("accepts members, and only owners as owners", async () => {
  await requireMember(brand, OWNER);
  await requireMember(brand, MEMBER);
  await expect(requireMember(brand, OTHER)).rejects.toMatchObject({ kind: "not_found", field: "brand_id" });
  await requireOwner(brand, OWNER);
  const message = (email: string): string => `${email} is not an owner of this brand; only owners paint doors`;
  await expect(requireOwner(brand, MEMBER)).rejects.toMatchObject({ kind: "owner_required", message: message(MEMBER) });
  await expect(requireOwner(brand, OTHER)).rejects.toMatchObject({ kind: "owner_required", message: message(OTHER) });
});

it("does not say whether a brand exists to a person who is no member", async () => {
  const noBrand = refusing(new AppError("not_found", "No such brand"));
  const messages = [brand, noBrand].map((memberships) =>
    requireMember(memberships, OTHER).catch((error: unknown) => (error as Error).message),
  );
  expect(new Set(await Promise.all(messages)).size).toBe(1);
  await expect(requireOwner(noBrand, OWNER)).rejects.toMatchObject({ kind: "not_found", message: "No such brand" });
});

it("waits five seconds at most, and less if the call has less", async () => {
  const deadlines: number[] = [];
  const listMembers: ListMembers = async (_, call) => {
    deadlines.push(call.deadline - Date.now());
    return { members: [memberOf(MEMBER, "member")] };
  };
  const memberships = new Memberships({ listMembers });
  await memberships.requireMember("brd_1", MEMBER, newCallContext(CALL_MS));
  await memberships.requireMember("brd_1", MEMBER, newCallContext(1_000));
  expect(deadlines[0]).toBeLessThanOrEqual(5_000);
  expect(deadlines[0]).toBeGreaterThan(1_000);
  expect(deadlines[1]).toBeLessThanOrEqual(1_000);
});

it("is unavailable if accounts cannot be reached", async () => {
  const client = connectRpc(AccountsServiceService, "127.0.0.1:1");
  try {
    const memberships = new Memberships(client);
    const unavailable = { kind: "unavailable", message: expect.stringContaining("nothing was changed") };
    await expect(requireMember(memberships, MEMBER)).rejects.toMatchObject(unavailable);
    await expect(requireOwner(memberships, OWNER)).rejects.toMatchObject(unavailable);
  } finally {
    client.stop();
  }
});
