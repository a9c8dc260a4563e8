import { ATTRIBUTES, isChosen, OWN_ATTRIBUTES, startRootSpan, traceparentFrom } from "@brand-records/telemetry";
import type { OutboxRow } from "../storage/outbox.ts";

type Row = Pick<OutboxRow, "seq" | "payload" | "traceparent">;

/** The trace contexts of the changes that made the events. They stay the same however often an event is published. */
export class CreationContexts {
  readonly #begun = new Map<number, string>();

  /**
   * Returns the platform's trace context, with its decision about sampling. A change without one begins a trace here; if that is
   * sampled, a span covers the event's time in the outbox.
   */
  of(row: Row): string {
    if (row.traceparent !== null) return traceparentFrom(row.traceparent);
    const begun = this.#begun.get(row.seq) ?? begin(row);
    this.#begun.set(row.seq, begun);
    return begun;
  }

  /** Called once rows are published. */
  forget(rows: readonly Row[]): void {
    for (const { seq } of rows) this.#begun.delete(seq);
  }

  /** Called while another process publishes. */
  clear(): void {
    this.#begun.clear();
  }
}

function begin({ payload }: Row): string {
  if (!isChosen()) return traceparentFrom(undefined);
  const { id, type, created_at } = JSON.parse(payload) as { id: string; type: string; created_at: string };
  const span = startRootSpan(`create ${type}`, {
    kind: "producer",
    startedAt: new Date(created_at),
    attributes: {
      [ATTRIBUTES.messagingSystem]: "brand_records",
      [ATTRIBUTES.messagingOperation]: "create",
      [ATTRIBUTES.messagingOperationType]: "create",
      [OWN_ATTRIBUTES.eventId]: id,
    },
  });
  span?.end();
  return span?.traceparent ?? traceparentFrom(undefined);
}
