export const SLOTS = 16_384;

/** The Redis Cluster slot of a key: CRC-16/XMODEM of the part in braces if there is one, of the whole key otherwise. */
export function keySlot(key: string): number {
  return crc16(Buffer.from(hashTag(key))) % SLOTS;
}

function hashTag(key: string): string {
  const open = key.indexOf("{");
  const close = key.indexOf("}", open + 1);
  return open === -1 || close <= open + 1 ? key : key.slice(open + 1, close);
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}
