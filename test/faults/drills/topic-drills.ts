import { eventually, startSecondKafkaServer, type KafkaServer } from "@brand-records/testkit";
import { withKafkaAdmin } from "../../kafka.ts";
import type { DrillSystem } from "./drill-system.ts";
import type { Drill } from "./drill.ts";

/** Kafka's resource type for topics. */
const TOPIC_RESOURCE = 2;
/** Eight of twelve. */
const MOVED = Array.from({ length: 8 }, (_, index) => index + 4);
const MOVE_MS_MAX = 60_000;

/** Sets max.message.bytes, and keeps the other settings. */
const limitTopic = (system: DrillSystem, bytesMax: number): Promise<void> =>
  withKafkaAdmin(system.kafka.brokers, async (admin) => {
    const kept = ["retention.ms", "compression.type"];
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: TOPIC_RESOURCE, name: system.stack.topic, configNames: kept }],
    });
    const configEntries = [
      ...(resources[0]?.configEntries ?? []).map(({ configName, configValue }) => ({ name: configName, value: configValue })),
      { name: "max.message.bytes", value: String(bytesMax) },
    ];
    await admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC_RESOURCE, name: system.stack.topic, configEntries }] });
  });

/** Resolves when the broker leads these partitions, and has their only copy. */
const moveTo = (system: DrillSystem, broker: number): Promise<void> =>
  withKafkaAdmin(system.kafka.brokers, async (admin) => {
    const partitionAssignment = MOVED.map((partition) => ({ partition, replicas: [broker] }));
    await admin.alterPartitionReassignments({ topics: [{ topic: system.stack.topic, partitionAssignment }] });
    await eventually(
      async () => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [system.stack.topic] });
        const moved = topics[0]?.partitions.filter(({ partitionId }) => MOVED.includes(partitionId));
        expect(new Set(moved?.flatMap(({ leader, replicas }) => [leader, ...replicas]))).toEqual(new Set([broker]));
      },
      { timeoutMs: MOVE_MS_MAX, everyMs: 250 },
    );
  });

let second: KafkaServer | undefined;

/** Faults of the topic, while its brokers respond. */
export const TOPIC_DRILLS: readonly Drill[] = [
  {
    fault: "small topic limit",
    alert: "EventTooLarge",
    answers: {},
    errors: /an event is too large for the topic/,
    // No event fits.
    apply: (system) => limitTopic(system, 300),
    async heal(system) {
      // About ninety do, and many times as many wait.
      await limitTopic(system, 45_000);
      await eventually(async () => expect((await system.prometheus.query("sum(outbox_too_large_events)"))[0]?.value).toBe(0), {
        timeoutMs: MOVE_MS_MAX,
      });
      await limitTopic(system, 4 * 1024 * 1024);
    },
  },
  {
    fault: "leaderless partitions",
    alert: "EventLogUnavailable",
    answers: {},
    async apply(system) {
      second = await startSecondKafkaServer(system.kafka);
      await moveTo(system, 2);
      await second.kill();
    },
    // Events of the other four partitions still reach receivers.
    async during({ receivers }) {
      const arrived = (): number => receivers.arrivals.filter(({ receiver }) => receiver === 0).length;
      const before = arrived();
      await eventually(() => expect(arrived()).toBeGreaterThan(before + 10), { timeoutMs: 60_000 });
    },
    async heal(system) {
      await second?.kill();
      await second?.start();
      await moveTo(system, 1);
      await second?.stop();
    },
  },
];
