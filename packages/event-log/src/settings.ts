import { integer, pemFile, trueOrFalse } from "@brand-records/config";
import { z } from "zod";

/** The event log. Without KAFKA_BROKERS it is direct: records sends its events to webhook over gRPC. */
export const eventLogSettings = {
  KAFKA_BROKERS: z
    .string()
    .default("")
    .transform((list) => list.split(",").map((broker) => broker.trim()))
    .transform((list) => list.filter((broker) => broker !== ""))
    .refine(
      (list) => list.every((broker) => /^[^\s:]+:\d{1,5}$|^\[[0-9a-f:.]+\]:\d{1,5}$/i.test(broker)),
      "must be host:port, comma-separated",
    )
    .meta({ values: "host:port, comma-separated" })
    .describe(
      "Brokers of the [event log](platform.md#the-topic). Without it records hands events to webhook over gRPC (`WEBHOOK_ADDRESS`).",
    ),
  KAFKA_TOPIC: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,240}$/, "must be 1 to 240 letters, digits, dots, dashes and underscores")
    .meta({ values: "1 to 240 letters, digits, `.`, `-`, `_`" })
    .default("brand.events")
    .describe("Topic of the events. Dead letters go to the topic of this name with `.dead` appended."),
  KAFKA_PARTITIONS: integer(12, 1, 1_000).describe(
    "Partitions of the topic when it is created. Never change it later: a record's events would move to another partition and lose their order.",
  ),
  KAFKA_REPLICATION_FACTOR: integer(0, 0, 15).describe("Replicas of the topic when it is created; 0 takes the brokers' default."),
  KAFKA_RETENTION_HOURS: integer(168, 1, 87_600).describe(
    "How long the topic keeps events, when it is created: longer than webhook can be away, [or events are lost](operations.md#how-long-kafka-keeps-events).",
  ),
  KAFKA_TLS: trueOrFalse.default("false").describe("Whether to connect with TLS."),
  KAFKA_TLS_CA: pemFile.optional().describe("The authorities of the brokers' certificates, with `KAFKA_TLS`. Without it those of Node."),
  KAFKA_SASL_MECHANISM: z
    .enum(["plain", "scram-sha-256", "scram-sha-512"])
    .optional()
    .describe("How this process authenticates. Without it connections are not authenticated."),
  KAFKA_SASL_USERNAME: z.string().min(1).optional().describe("User at the brokers."),
  KAFKA_SASL_PASSWORD: z.string().min(1).meta({ secret: true }).optional().describe("Password of that user."),
} as const;

const Settings = z.object(eventLogSettings);

export type EventLogConfig = Readonly<z.output<typeof Settings>>;
