import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const TYPE_ID_SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Matches every id: our own TypeIDs, and the platform's ids of any form, `prefix_` and 1 to 40 of `[0-9a-z]`. */
export function idPattern(prefix: string): RegExp {
  return new RegExp(`^${prefix}_[0-9a-z]{1,40}$`);
}

/** The rule of `idPattern` as an error message that follows a field's name. */
export function idRule(prefix: string): string {
  return `must be ${prefix}_ and 1 to 40 lower-case letters or digits`;
}

/**
 * Returns a new TypeID: `prefix_` and 26 characters of base32 over a UUIDv7, so ids sort by creation time.
 *
 * @param milliseconds since the epoch
 * @param random ten bytes; pass them only for reproducible ids
 * @see https://github.com/jetify-com/typeid/tree/main/spec
 */
export function newId(prefix: string, milliseconds: number = Date.now(), random: Uint8Array = randomBytes(10)): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(milliseconds, 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return `${prefix}_${base32(bytes)}`;
}

/** Returns the creation time of an id in milliseconds since the epoch; NaN if it is not a TypeID. */
export function timeOfId(id: string): number {
  const suffix = id.slice(id.lastIndexOf("_") + 1);
  if (!TYPE_ID_SUFFIX.test(suffix)) return Number.NaN;
  // Two zero bits and 48 bits of time: ten characters.
  return Array.from(suffix.slice(0, 10)).reduce((time, character) => time * 32 + ALPHABET.indexOf(character), 0);
}

/** Encodes 16 bytes as 26 characters; the first carries three bits. */
function base32(bytes: Buffer): string {
  let text = "";
  let pending = 0;
  let bits = 2; // 26 characters have 130 bits: two leading zeros, then the 128.
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(pending >> bits) & 31];
    }
    pending &= (1 << bits) - 1;
  }
  return text;
}

const COUNTER_MAX = 0xfff;

/**
 * Returns a generator of increasing ids: each is greater than all earlier ids of this sequence, even within one millisecond and when the
 * clock steps back.
 *
 * @param now milliseconds since the epoch
 */
export function idSequence(prefix: string, now: () => number = Date.now): () => string {
  let milliseconds = 0;
  let counter = 0;
  return () => {
    const time = now();
    if (time > milliseconds) [milliseconds, counter] = [time, 0];
    else if (counter < COUNTER_MAX) counter += 1;
    else [milliseconds, counter] = [milliseconds + 1, 0];
    const random = randomBytes(10);
    // The counter takes the twelve bits after the time: RFC 9562, section 6.2, method 1.
    random.writeUInt16BE(counter, 0);
    return newId(prefix, milliseconds, random);
  };
}
