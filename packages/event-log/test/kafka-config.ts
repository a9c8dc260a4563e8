import { randomUUID } from "node:crypto";
import { parseEnv } from "@brand-records/config";
import { openLog } from "@brand-records/telemetry";
import { z } from "zod";
import { eventLogSettings, type EventLogConfig } from "../src/settings.ts";

export const silent = openLog("test", "silent");

/** Four partitions and a topic that no other test uses. */
export const configOf = (brokers: string): EventLogConfig =>
  parseEnv(z.object(eventLogSettings), { KAFKA_BROKERS: brokers, KAFKA_TOPIC: `test.${randomUUID()}`, KAFKA_PARTITIONS: "4" });
