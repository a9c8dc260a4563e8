import { createDecipheriv, randomBytes } from "node:crypto";
import { seal, SealBroken, unseal } from "./secret-keys.ts";

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
