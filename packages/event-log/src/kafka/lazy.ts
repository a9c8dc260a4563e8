import type { Logger } from "@brand-records/telemetry";
import type { Publisher } from "../event-log.ts";
import type { EventLogConfig } from "../settings.ts";
import type { KafkaReader } from "./kafka-log.ts";
import type { Rewound } from "./rewind.ts";

/*
 * The functions of kafka-log.ts and rewind.ts, which are loaded with the first call: a process without brokers starts without kafkajs, a
 * hundred modules.
 */

export type { CutPartition, Rewound } from "./rewind.ts";

export async function openKafkaPublisher(config: EventLogConfig, clientId: string, log: Logger): Promise<Publisher> {
  const kafka = await import("./kafka-log.ts");
  return kafka.openKafkaPublisher(config, clientId, log);
}

export async function openKafkaReader(config: EventLogConfig, groupId: string, log: Logger): Promise<KafkaReader> {
  const kafka = await import("./kafka-log.ts");
  return kafka.openKafkaReader(config, groupId, log);
}

export async function rewindReaders(config: EventLogConfig, groupId: string, since: Date, log: Logger): Promise<Rewound> {
  const kafka = await import("./rewind.ts");
  return kafka.rewindReaders(config, groupId, since, log);
}
