import { Counter, type Registry } from "@brand-records/telemetry";

export interface IntakeMetrics {
  readonly events: Counter;
  readonly repeated: Counter;
  readonly deliveries: Counter;
  readonly dead: Counter;
}

export function intakeMetrics(registry: Registry): IntakeMetrics {
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers: [registry] });
  return {
    events: counter("intake_events_total", "Events taken in from the log."),
    repeated: counter("intake_repeated_total", "Messages whose event was there already."),
    deliveries: counter("intake_deliveries_total", "Deliveries made for receivers."),
    dead: counter("intake_dead_letters_total", "Messages set aside because they cannot be taken in."),
  };
}
