import { randomBytes } from "node:crypto";
import { requestIdFrom } from "./call-context.ts";

const NEW_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

it.each([
  "order-sync-4711",
  "a",
  "x".repeat(128),
  "0f8fad5b-d9cb-469f-a165-70867728950e",
  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  // Has the length of a session's token.
  "nightly-export-of-submissions-2026-11-22-04",
  "nightly:Export-Of-Submissions-And-Payouts-2026-11-22-0001",
  "service:eyJ.v1",
])("keeps the caller's own id %s", (given) => {
  expect(requestIdFrom(given)).toBe(given);
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

it.each([
  ["nothing", undefined],
  ["an empty text", ""],
  ["two headers", ["a", "b"]],
  ["a long text", "x".repeat(129)],
  ["a line break", "a\nb"],
  ["an API key", `brk_live_${"a".repeat(36)}`],
  ["a signing secret", "whsec_abc"],
  ["a secret behind a word", "sync:whsec_abc"],
  ["a JWT", `${encode({ alg: "HS256" })}.${encode({ sub: "1" })}.c2lnbmF0dXJl`],
  ["an unsigned JWT", `${encode({ alg: "none" })}.${encode({ sub: "1" })}.`],
  ["an encrypted JWT", `${encode({ alg: "dir" })}..aXY.dGV4dA.dGFn`],
  ["a JWT behind a word", `bearer:${encode({ alg: "HS256" })}.${encode({ sub: "1" })}.c2lnbmF0dXJl`],
])("makes a new id for %s", (_, given) => {
  expect(requestIdFrom(given)).toMatch(NEW_ID);
});

it("makes a new id for the token of a session or of a sign-in link, also behind a word", () => {
  for (let made = 0; made < 1_000; made += 1) {
    const token = randomBytes(32).toString("base64url");
    for (const given of [token, `session:${token}`]) expect(requestIdFrom(given)).toMatch(NEW_ID);
  }
});
