/** The part of a broker's answer that says why it refuses: no right, or a topic that is compacted. */
const REFUSALS = /AUTHORIZATION_FAILED|POLICY_VIOLATION/;

/** Returns the brokers' word for why they refuse; undefined for any other error. */
export function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("type" in error && typeof error.type === "string" && REFUSALS.test(error.type)) return error.type;
  const causes = "partitions" in error && Array.isArray(error.partitions) ? (error.partitions as { error?: unknown }[]) : [];
  for (const cause of [error.cause, ...causes.map((partition) => partition.error)]) {
    const refused = refusalIn(cause);
    if (refused !== undefined) return refused;
  }
  return undefined;
}
