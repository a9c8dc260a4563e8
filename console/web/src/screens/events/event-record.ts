export interface EventRecord {
  readonly id: string;
  /** Absent if the event is about the campaign itself. */
  readonly campaignId: string | undefined;
  /** Such as "processing → paid"; absent if the event does not have both. */
  readonly change: string | undefined;
}

/** Reads the record that an event is about from its data. Undefined for data that names none. */
export function recordOf(dataJson: string): EventRecord | undefined {
  let data: Readonly<Record<string, unknown>> | null;
  try {
    data = JSON.parse(dataJson) as Readonly<Record<string, unknown>> | null;
  } catch {
    // The page shows the body as it is.
    return undefined;
  }
  const { id, campaign_id, previous_status, status } = data ?? {};
  if (typeof id !== "string") return undefined;
  return {
    id,
    campaignId: typeof campaign_id === "string" && campaign_id !== id ? campaign_id : undefined,
    change: typeof previous_status === "string" && typeof status === "string" ? `${previous_status} → ${status}` : undefined,
  };
}
