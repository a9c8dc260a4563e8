import { integer } from "@brand-records/config";
import { z } from "zod";

/** The event log. Without KAFKA_BROKERS it is direct: records sends its events to webhook over gRPC. */
export const eventLogSettings = {
  /** Brokers as host:port, comma-separated. Empty means none. */
  KAFKA_BROKERS: z
    .string()
    .default("")
    .transform((list) => list.split(",").map((broker) => broker.trim()))
    .transform((list) => list.filter((broker) => broker !== ""))
    .refine(
      (list) => list.every((broker) => /^[^\s:]+:\d{1,5}$|^\[[0-9a-f:.]+\]:\d{1,5}$/i.test(broker)),
      "must be host:port, comma-separated",
    ),
  /** Topic of the events. Default: brand.events. Dead letters go to a topic with `.dead` appended. */
  KAFKA_TOPIC: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,240}$/, "must be 1 to 240 letters, digits, dots, dashes and underscores")
    .default("brand.events"),
  /** Partitions of a new topic. Default: 12. Never changed later: a record's events would change partition and lose their order. */
  KAFKA_PARTITIONS: integer(12, 1, 1_000),
  /** Replication factor of a new topic. Default: 0, the brokers' default. */
  KAFKA_REPLICATION_FACTOR: integer(0, 0, 15),
  /** Retention of a new topic in hours. Default: 168. */
  KAFKA_RETENTION_HOURS: integer(168, 1, 87_600),
  /** Whether to connect with TLS. Default: false. */
  KAFKA_TLS: z.enum(["true", "false"], "must be true or false").default("false"),
  /** SASL mechanism. Default: none; connections are not authenticated. */
  KAFKA_SASL_MECHANISM: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).optional(),
  KAFKA_SASL_USERNAME: z.string().min(1).optional(),
  KAFKA_SASL_PASSWORD: z.string().min(1).optional(),
} as const;

const Settings = z.object(eventLogSettings);

export type EventLogConfig = Readonly<z.output<typeof Settings>>;
