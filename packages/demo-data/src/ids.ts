import { newId } from "@brand-records/ids";
import { Random } from "./random.ts";

const bytes = new Uint8Array(10);

/**
 * Returns a TypeID with the time `milliseconds`, the same for the same stream and index.
 *
 * The first draw differs for every index and goes into bytes that the version and the variant of a UUIDv7 leave alone: two
 * indexes of a stream never share an id, though thousands share a millisecond.
 */
export function idAt(prefix: string, milliseconds: number, stream: number, index: number): string {
  const random = new Random(stream, index);
  write(3, random.bits());
  write(6, random.bits());
  const rest = random.bits();
  bytes[0] = rest;
  bytes[1] = rest >>> 8;
  bytes[2] = rest >>> 16;
  return newId(prefix, milliseconds, bytes);
}

function write(at: number, bits: number): void {
  bytes[at] = bits;
  bytes[at + 1] = bits >>> 8;
  bytes[at + 2] = bits >>> 16;
  bytes[at + 3] = bits >>> 24;
}
