import pg from "pg";

export interface Snapshot {
  /** Ends its session. A repeat does nothing. */
  end(): Promise<void>;
}

/** Takes a snapshot and keeps it open, as a dump does: no row that it sees can be removed from tables and indexes. */
export async function openSnapshot(databaseUrl: string): Promise<Snapshot> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "bench snapshot" });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin isolation level repeatable read read only");
  // The first query takes the snapshot.
  await client.query("select count(*) from webhook.lanes");
  let ending: Promise<void> | undefined;
  return { end: () => (ending ??= client.end()) };
}
