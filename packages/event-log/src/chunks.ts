import type { LogMessage } from "./event-log.ts";

/** Splits messages, in order, into chunks of at most `bytesMax`. A larger message is a chunk on its own. */
export function* chunks<Message extends LogMessage>(messages: readonly Message[], bytesMax: number): Generator<Message[]> {
  let chunk: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = bytesOf(message);
    if (chunk.length > 0 && bytes + size > bytesMax) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(message);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}

/** The size on the wire, at most: a message takes up to 30 bytes in addition to its texts. */
export function bytesOf({ key, value, headers }: LogMessage): number {
  let bytes = Buffer.byteLength(key) + value.length + 30;
  for (const [name, text] of Object.entries(headers)) bytes += Buffer.byteLength(name) + Buffer.byteLength(text) + 10;
  return bytes;
}
