import { randomBytes } from "node:crypto";
import { ConfigError, parseEnv } from "@brand-records/config";
import { z } from "zod";
import { parseSecretKeys } from "./secret-keys.ts";

const base64Key = (length = 32): string => randomBytes(length).toString("base64");
const Settings = z.object({ KEYS: z.string().transform(parseSecretKeys) });
const parse = (KEYS: string) => parseEnv(Settings, { KEYS }).KEYS;

it("returns keys newest first, in whatever order they are listed", () => {
  const [one, two, ten] = [base64Key(), base64Key(), base64Key()];
  expect(parse(`2:${two}, 10:${ten},1:${one}`)).toEqual([
    { id: 10, bytes: Buffer.from(ten, "base64") },
    { id: 2, bytes: Buffer.from(two, "base64") },
    { id: 1, bytes: Buffer.from(one, "base64") },
  ]);
});

it("reads a single key with the largest allowed id, in base64 without padding", () => {
  const key = base64Key();
  expect(parse(`999999999:${key.replace("=", "")}`)).toEqual([{ id: 999_999_999, bytes: Buffer.from(key, "base64") }]);
});

it.each([
  ["without an id", base64Key()],
  ["with the id 0", `0:${base64Key()}`],
  ["with a leading zero in the id", `01:${base64Key()}`],
  ["with a negative id", `-1:${base64Key()}`],
  ["with an id that is not a whole number", `1.5:${base64Key()}`],
  ["with an id too large for the table", `1000000000:${base64Key()}`],
  ["of 31 bytes", `1:${base64Key(31)}`],
  ["of 33 bytes", `1:${base64Key(33)}`],
  ["of 64 bytes", `1:${base64Key(64)}`],
  ["in hex", `1:${randomBytes(32).toString("hex")}`],
  ["in base64url", `1:${Buffer.alloc(32, 0xff).toString("base64url")}`],
  ["not in base64", "1:not base64 but quite long, surely longer than 32 bytes"],
  ["with one id twice", `1:${base64Key()},1:${base64Key()}`],
  ["with an empty entry at the end", `1:${base64Key()},`],
  ["with an empty entry between two keys", `1:${base64Key()},,2:${base64Key()}`],
  ["separated by spaces", `1:${base64Key()} 2:${base64Key()}`],
])("refuses keys %s without revealing them", (_, keys) => {
  let message = "accepted";
  try {
    parse(keys);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = (error as ConfigError).message;
  }
  expect(message).toContain("KEYS: must be id:base64 pairs of exactly 32 bytes");
  for (const part of keys.split(/[:, ]/).filter((text) => text.length > 6)) expect(message).not.toContain(part);
});
