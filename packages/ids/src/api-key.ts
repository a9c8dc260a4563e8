import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

export type KeyEnvironment = "live" | "test";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/**
 * `brk_live_` or `brk_test_`, 30 random base62 characters (178 bits), 6 of CRC-32. Published, so that secret scanners find leaked
 * keys.
 */
export const KEY_PATTERN = /^brk_(live|test)_[0-9A-Za-z]{36}$/;

export function generateKey(environment: KeyEnvironment): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join("");
  const unchecked = `brk_${environment}_${random}`;
  return unchecked + checksum(unchecked);
}

/**
 * Detects typing errors, incomplete copies and guesses without a lookup.
 *
 * @returns the key's environment; undefined if the text cannot be a key
 */
export function keyEnvironment(text: string): KeyEnvironment | undefined {
  const match = KEY_PATTERN.exec(text);
  if (match === null) return undefined;
  const unchecked = text.slice(0, -CHECKSUM_LENGTH);
  return text.endsWith(checksum(unchecked)) ? (match[1] as KeyEnvironment) : undefined;
}

/** Identifies a key between processes, which never send the key itself. */
export function keyDigest(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** The prefix and the last four characters: enough for the owner to recognise the key. */
export function keyHint(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
