import { createDecipheriv, randomBytes } from "node:crypto";
import { ConfigError, parseEnv } from "@brand-records/config";
import { z } from "zod";
import { parseSecretKeys, seal, SealBroken, unseal, type SecretKey } from "./secret-keys.ts";
import { newSigningSecret, openSigningSecret, sealSigningSecret } from "./signing-secret.ts";

describe("secret keys", () => {
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
});

describe("a sealed text", () => {
  const key = { id: 1, bytes: randomBytes(32) };
  const TEXT = "whsec_ñ😀";

  it("opens a sealed text for its owner", () => {
    for (const text of ["", "a", TEXT, "x".repeat(10_000)]) expect(unseal(key, "rcv_1", seal(key, "rcv_1", text))).toBe(text);
  });

  it("is AES-256-GCM: 12 bytes of nonce, the ciphertext, 16 bytes of tag, the owner as additional data", () => {
    const nonce = Buffer.from("000102030405060708090a0b", "hex");
    const sealed = seal(key, "rcv_1", TEXT, nonce);
    expect(sealed).toHaveLength(12 + Buffer.byteLength(TEXT) + 16);
    expect(sealed.subarray(0, 12)).toEqual(nonce);
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, nonce);
    decipher.setAAD(Buffer.from("rcv_1"));
    decipher.setAuthTag(sealed.subarray(-16));
    expect(Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString()).toBe(TEXT);
  });

  it("never seals the same text the same way twice", () => {
    const made = Array.from({ length: 1_000 }, () => seal(key, "rcv_1", TEXT).toString("hex"));
    expect(new Set(made).size).toBe(1_000);
    expect(new Set(made.map((each) => each.slice(0, 24))).size).toBe(1_000);
  });

  it("does not open for another owner", () => {
    const sealed = seal(key, "rcv_1", TEXT);
    for (const owner of ["rcv_2", "rcv_", "rcv_11", ""]) expect(() => unseal(key, owner, sealed)).toThrow(SealBroken);
  });

  it("does not open under another key, whatever its id", () => {
    const sealed = seal(key, "rcv_1", TEXT);
    for (const id of [1, 2]) expect(() => unseal({ id, bytes: randomBytes(32) }, "rcv_1", sealed)).toThrow(SealBroken);
  });

  it("does not open with a bit changed, truncated or extended", () => {
    const sealed = seal(key, "rcv_1", TEXT);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => unseal(key, "rcv_1", changed)).toThrow(SealBroken);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => unseal(key, "rcv_1", sealed.subarray(0, length))).toThrow(SealBroken);
    }
    expect(() => unseal(key, "rcv_1", Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow(SealBroken);
  });

  it("fails without revealing the text or the key", () => {
    const sealed = seal(key, "rcv_1", TEXT);
    let message = "opened";
    try {
      unseal(key, "rcv_2", sealed);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toBe("the text sealed for rcv_2 does not open under key 1");
  });
});

describe("a signing secret", () => {
  it("is whsec_ and 32 bytes in base64", () => {
    expect(newSigningSecret(Buffer.alloc(32, 0xff))).toBe(`whsec_${"/".repeat(42)}8=`);
    const secret = newSigningSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    expect(new Set(Array.from({ length: 1_000 }, () => newSigningSecret())).size).toBe(1_000);
  });

  it("is sealed under the newest key, and opens while that key is configured", () => {
    const [three, two, one] = [3, 2, 1].map((id) => ({ id, bytes: randomBytes(32) })) as [SecretKey, SecretKey, SecretKey];
    const secret = newSigningSecret();
    const sealed = sealSigningSecret(two, "rcv_1", secret);
    expect(sealed.keyId).toBe(2);
    expect(openSigningSecret([two, one], "rcv_1", sealed)).toBe(secret);
    expect(openSigningSecret([three, two], "rcv_1", sealed)).toBe(secret);
  });
});
