import { integer } from "@brand-records/config";
import { z } from "zod";

const text = z.string().min(1).optional();

/** Where the event log is. Without KAFKA_BROKERS it is direct: records hands its events to webhook over gRPC. */
export const eventLogSettings = {
  /** host:port, comma-separated. An empty one counts as none. */
  KAFKA_BROKERS: z
    .string()
    .default("")
    .transform((list) => list.split(",").map((broker) => broker.trim()))
    .transform((list) => list.filter((broker) => broker !== ""))
    .refine(
      (list) => list.every((broker) => /^[^\s:]+:\d{1,5}$|^\[[0-9a-f:.]+\]:\d{1,5}$/i.test(broker)),
      "must be host:port, comma-separated",
    ),
  KAFKA_TOPIC: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,240}$/, "must be 1 to 240 letters, digits, dots, dashes and underscores")
    .default("brand.events"),
  /** When the topic is made. Never changed afterwards: a record's events would move to another partition, and lose their order. */
  KAFKA_PARTITIONS: integer(12, 1, 1_000),
  /** When the topic is made; 0 takes the brokers' own default. */
  KAFKA_REPLICATION_FACTOR: integer(0, 0, 15),
  /** When the topic is made. */
  KAFKA_RETENTION_HOURS: integer(168, 1, 87_600),
  KAFKA_TLS: z.enum(["true", "false"], "must be true or false").default("false"),
  /** Without it, brokers are not told who connects. */
  KAFKA_SASL_MECHANISM: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).optional(),
  KAFKA_SASL_USERNAME: text,
  KAFKA_SASL_PASSWORD: text,
} as const;

const Settings = z.object(eventLogSettings);

export type EventLogConfig = Readonly<z.output<typeof Settings>>;
