import type { Key, Output } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { Rows, type Column } from "../../parts/rows.tsx";
import { countsByKey, NONE, type Counts } from "../../parts/usage-buckets.ts";
import { KeyName } from "../../parts/key-name.tsx";
import { clientRows, type ClientCount } from "./client-rows.ts";

interface KeyTableProps {
  readonly buckets: Output<"usage.get">["buckets"];
  readonly keys: readonly Key[];
  /** The counts of all keys together: their busiest minutes do not add up. */
  readonly total: Counts;
}

interface KeyUsage extends Counts {
  readonly id: string;
  /** Undefined for a key that is not among them. */
  readonly key: Key | undefined;
}

const ALL = "all";

/** What each key made, the busiest first: active keys, and others that made a request. */
export function KeyTable({ buckets, keys, total }: KeyTableProps) {
  const known = new Map(keys.map((key) => [key.id, key]));
  const used = countsByKey(buckets);
  const unused = keys.filter(({ id, revoked_at }) => revoked_at === null && !used.has(id));
  const rows: KeyUsage[] = [...used, ...unused.map(({ id }) => [id, NONE] as const)]
    .map(([id, counts]) => ({ id, key: known.get(id), ...counts }))
    .toSorted((a, b) => b.accepted + b.refused - (a.accepted + a.refused));
  return (
    <section aria-labelledby="by-key">
      <Text id="by-key" component="h2" fw={650} mb="xs">
        By key
      </Text>
      <Rows label="Requests by key" columns={COLUMNS} rows={[...rows, { id: ALL, key: undefined, ...total }]} keyOf={({ id }) => id} />
    </section>
  );
}

const COLUMNS: Column<KeyUsage>[] = [
  { title: "Key", cell: ({ id, key }) => (id === ALL ? <strong>All keys</strong> : <KeyName id={id} found={key} />) },
  { title: "Accepted", cell: ({ accepted }) => accepted.toLocaleString("en-PH") },
  { title: "Refused over the limit", cell: ({ refused }) => refused.toLocaleString("en-PH") },
  { title: "Busiest clock minute", cell: ({ peak }) => peak.toLocaleString("en-PH") },
];

interface ClientTableProps {
  readonly clients: readonly ClientCount[];
  readonly keys: readonly Key[];
  /** The days that are counted, in words. */
  readonly days: string;
}

/** Which assistants used the keys, by the names that their clients declare: anyone can declare anything. */
export function ClientTable({ clients, keys, days }: ClientTableProps) {
  const known = new Map(keys.map((key) => [key.id, key]));
  return (
    <section aria-labelledby="by-assistant">
      <Text id="by-assistant" component="h2" fw={650} mb="xs">
        By assistant
      </Text>
      <Text size="sm" c="dimmed" mb="xs">
        {clients.length === 0
          ? `No assistant sent a message ${days}.`
          : `Messages ${days}, by the name that each client declares: declared, not proved. Whole days, in Manila. “To connect” are those that call no tool.`}
      </Text>
      {clients.length > 0 && (
        <Rows
          label="Messages by assistant"
          columns={[
            { title: "Assistant", cell: ({ client }) => <strong className="breakable">{client?.name ?? "All others"}</strong> },
            { title: "Key", cell: ({ client }) => client !== undefined && <KeyName id={client.key_id} found={known.get(client.key_id)} /> },
            { title: "Messages", cell: ({ messages }) => messages.toLocaleString("en-PH") },
            { title: "To connect", cell: ({ connecting }) => connecting.toLocaleString("en-PH") },
          ]}
          rows={clientRows(clients)}
          keyOf={({ id }) => id}
        />
      )}
    </section>
  );
}
