import { EVENT_TYPES, type EventType } from "@brand-records/resources";
import { IntakeServiceService } from "@brand-records/proto/webhook/v1";
import { connectRpc } from "@brand-records/rpc";
import { newId } from "@brand-records/ids";
import { callContext, type Stack } from "./stack.ts";

export interface PublishedEvent {
  readonly id: string;
  readonly recordId: string;
}

/** Publishes events of made-up records, as records does without Kafka. Resolves when they are stored with their deliveries. */
export async function publishEvents(
  stack: Pick<Stack, "addresses">,
  brandId: string,
  events: readonly { readonly type: EventType; readonly at: number }[],
): Promise<PublishedEvent[]> {
  const intake = connectRpc(IntakeServiceService, stack.addresses.webhook);
  const made = events.map(({ type, at }) => {
    const created_at = new Date(at).toISOString();
    const example = EVENT_TYPES[type].example(created_at);
    const recordId = newId(example.id.split("_")[0] ?? "", at);
    return { id: newId("evt", at), type, created_at, brand_id: brandId, data: { ...example, id: recordId } };
  });
  try {
    const messages = made.map((event) => ({ key: event.data.id, value: Buffer.from(JSON.stringify(event)), headers: {} }));
    await intake.publishMessages({ messages }, callContext());
  } finally {
    intake.stop();
  }
  return made.map(({ id, data }) => ({ id, recordId: data.id }));
}
