import type { IHeaders, KafkaMessage } from "kafkajs";
import type { ReceivedMessage } from "../event-log.ts";

export function receivedFrom(topic: string, partition: number, { key, value, headers, offset }: KafkaMessage): ReceivedMessage {
  return {
    key: key?.toString() ?? "",
    value: value ?? Buffer.alloc(0),
    headers: textHeaders(headers),
    position: `${topic}/${partition}@${offset}`,
  };
}

export function offsetOf({ position }: ReceivedMessage): number {
  return Number(position.slice(position.lastIndexOf("@") + 1));
}

function textHeaders(headers: IHeaders | undefined): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const first = Array.isArray(value) ? value[0] : value;
    // kafkajs returns null for a header without a value, whatever its types say.
    if (first != null) texts[name] = first.toString();
  }
  return texts;
}
