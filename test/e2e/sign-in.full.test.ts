import { randomBytes } from "node:crypto";
import { SessionsServiceService, SignInServiceService } from "@brand-records/proto/accounts/v1";
import { connectRpc, type RpcClient } from "@brand-records/rpc";
import { eventually } from "@brand-records/testkit";
import { callContext, startStack, type Stack } from "../stack.ts";

/** One promise: sessions and links hold in every accounts process, and their tokens are in no log, at any level. */

let stack: Stack;
let signIn: RpcClient<SignInServiceService>;
let sessions: RpcClient<SessionsServiceService>;
beforeAll(async () => {
  stack = await startStack({ replicas: true, env: { LOG_LEVEL: "trace" } });
  // Both processes take turns.
  signIn = connectRpc(SignInServiceService, stack.addresses.accounts);
  sessions = connectRpc(SessionsServiceService, stack.addresses.accounts);
});
afterAll(async () => {
  signIn.stop();
  sessions.stop();
  await stack.stop();
});

it("signs in, and out with the next call in either process", async () => {
  const { id, owner } = await stack.createBrand();
  const link = await signIn.createSignInLink({ email: owner, ttl_seconds: 0 }, callContext());
  await signIn.peekSignInLink({ token: link.token }, callContext());
  const { session } = await signIn.redeemSignInLink({ token: link.token }, callContext());
  const token = session?.token ?? "";
  const made = randomBytes(32).toString("base64url");
  const get = (of: string) => sessions.getSession({ token: of }, callContext());

  for (let i = 0; i < 4; i += 1) expect((await get(token)).memberships).toMatchObject([{ brand_id: id, role: "owner" }]);
  for (let i = 0; i < 2; i += 1) {
    await expect(signIn.redeemSignInLink({ token: link.token }, callContext())).rejects.toMatchObject({ kind: "sign_in_link_used" });
    await expect(signIn.peekSignInLink({ token: made }, callContext())).rejects.toMatchObject({ kind: "sign_in_link_unknown" });
    await expect(get(made)).rejects.toMatchObject({ kind: "invalid_session" });
  }
  await sessions.endSession({ token }, callContext());
  for (let i = 0; i < 4; i += 1) await expect(get(token)).rejects.toMatchObject({ kind: "invalid_session" });

  const processes = [stack.processes.accounts, ...(stack.replicas === undefined ? [] : [stack.replicas.accounts])];
  expect(processes).toHaveLength(2);
  await eventually(() => processes.map((process) => expect(process.output()).toContain("invalid_session")));
  for (const process of processes) {
    for (const secret of [link.token, token, made]) {
      expect(process.output()).not.toContain(secret);
      expect(process.output()).not.toContain(Buffer.from(secret, "base64url").toString("hex"));
    }
  }
});
