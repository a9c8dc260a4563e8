import { AppError, type ErrorKind } from "@brand-records/errors";
import { newCallContext } from "@brand-records/rpc";
import { SIGN_IN } from "./sign-in.ts";
import type { SignedIn } from "./operation.ts";

const refuse = (kind: ErrorKind) => () => Promise.reject(new AppError(kind, "refused"));

/** Signs out everywhere, where accounts ends the sessions and then answers so. */
async function signOut(answer: () => Promise<unknown>, getSession: () => Promise<unknown> = refuse("invalid_session")) {
  let hasCookie = true;
  const caller = {
    call: newCallContext(5_000, "test"),
    client: () => ({ address: null, browser: null }),
    person: { email: "ana@ulap.example", limited_to: null },
    sessionToken: "token",
    endSession: () => void (hasCookie = false),
    providerSignOutLocation: () => Promise.resolve("https://id.example/end"),
  };
  const output = await SIGN_IN["session.sign_out_everywhere"](
    { sessions: { endSessionsOf: answer, getSession } } as never,
    caller as unknown as SignedIn,
  );
  return { output, hasCookie };
}

const signedOut = { output: { location: "https://id.example/end" }, hasCookie: false };

it("signs out at the provider, and forgets the session", async () => {
  expect(await signOut(() => Promise.resolve({ ended: 1 }))).toEqual(signedOut);
});

it("does so if the session has ended by a call whose answer was lost: the repetition is refused", async () => {
  expect(await signOut(refuse("invalid_session"))).toEqual(signedOut);
});

it("fails if the call is refused and the session lives, as with a grant from a clock that is ahead", async () => {
  const alive = signOut(refuse("invalid_session"), () => Promise.resolve({ session: {} }));
  await expect(alive).rejects.toMatchObject({ kind: "invalid_session" });
});

it("fails if the sessions may live", async () => {
  await expect(signOut(refuse("unavailable"))).rejects.toMatchObject({ kind: "unavailable" });
});
