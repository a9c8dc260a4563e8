import { inspect } from "node:util";
import { cleanError, RedisReplyError, RedisUnavailable, refusalIn } from "./redis-errors.ts";

it("keeps name, message, code and stack, and drops the command", () => {
  const thrown = Object.assign(new Error("WRONGPASS no"), { name: "ReplyError", code: "E1", command: { args: ["hunter2"] } });
  const clean = cleanError(thrown);
  expect(clean).toMatchObject({ name: "ReplyError", message: "WRONGPASS no", code: "E1", stack: thrown.stack });
  expect(inspect(clean, { showHidden: true, depth: null })).not.toContain("hunter2");
});

it.each([
  "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 'hunter2' ",
  "ERR unknown command `AUTH`, with args beginning with: `hunter2`, ",
])("drops the arguments that the server quotes: %s", (message) => {
  const clean = cleanError(new Error(message));
  expect(clean.message).toMatch(/^ERR unknown command .(HELLO|AUTH).$/);
  expect(clean.stack).not.toContain("hunter2");
});

it("lists the messages of several connection errors if the error itself has none", () => {
  expect(cleanError(new AggregateError([new Error("::1 refused"), new Error("127.0.0.1 refused")])).message).toBe(
    "Error: ::1 refused; Error: 127.0.0.1 refused",
  );
});

it.each<[string, unknown, string | undefined]>([
  ["the password", new RedisUnavailable(new Error("WRONGPASS invalid username-password pair")), "WRONGPASS invalid username-password pair"],
  ["a right", new RedisReplyError(new Error("NOPERM no rights for a key")), "NOPERM no rights for a key"],
  ["TLS", new RedisUnavailable(Object.assign(new Error("self-signed"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" })), "self-signed"],
  ["nothing", new RedisUnavailable(Object.assign(new Error("refused"), { code: "ECONNREFUSED" })), undefined],
  ["one command", new RedisReplyError(new Error("WRONGTYPE no list")), undefined],
])("has the words of a refusal that only other settings end: of %s", (_, error, words) => {
  expect(refusalIn(error)).toBe(words);
});
