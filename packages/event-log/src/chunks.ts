import type { LogMessage } from "./event-log.ts";

/** Splits messages so that no part has more than so many bytes; one that has more by itself is a part alone. In their order. */
export function* chunks<Message extends LogMessage>(messages: readonly Message[], bytesMax: number): Generator<Message[]> {
  let part: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = bytesOf(message);
    if (part.length > 0 && bytes + size > bytesMax) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(message);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** About what it takes on its way: what every message has beside its texts is some 30 bytes. */
function bytesOf({ key, value, headers }: LogMessage): number {
  let bytes = Buffer.byteLength(key) + value.length + 30;
  for (const [name, text] of Object.entries(headers)) bytes += Buffer.byteLength(name) + Buffer.byteLength(text) + 10;
  return bytes;
}
