import type { Sql } from "@brand-records/postgres";
import { showSampled, type SampledGauge } from "@brand-records/service-runtime";
import type { Registry } from "@brand-records/telemetry";
import { receiverStates, type ReceiverStates } from "./storage/receiver-states.ts";

const GAUGES: readonly SampledGauge<ReceiverStates>[] = [
  {
    name: "receivers",
    help: "Receivers, by whether they are enabled; -1 if the database does not respond.",
    label: { name: "state", values: ["enabled", "disabled"] },
    of: ({ enabled, disabled }, state) => (state === "enabled" ? enabled : disabled),
  },
  {
    name: "receivers_attempted",
    help: "Enabled receivers to which something was sent in the last hour; -1 if the database does not respond.",
    of: ({ attempted }) => attempted,
  },
  {
    name: "receivers_failing",
    help: "Those of receivers_attempted whose last attempt failed; -1 if the database does not respond.",
    of: ({ failing }) => failing,
  },
  {
    name: "circuits_open",
    help: "Enabled receivers to which nothing is sent for now, because ten attempts in a row failed; -1 if the database does not respond.",
    of: ({ open }) => open,
  },
  {
    name: "deliveries_oldest_due_seconds",
    help: "How long the oldest delivery waits whose receiver works and has room; 0 if there is none, -1 if the database does not respond.",
    of: ({ oldest_due_seconds }) => oldest_due_seconds,
  },
];

/** Shows receivers and their queues. The values are the database's: the same in every process. */
export const showReceivers = (registry: Registry, sql: Sql): void => void showSampled(registry, () => receiverStates(sql), GAUGES);
