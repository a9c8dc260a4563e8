import { Text } from "@mantine/core";
import type { Key } from "@brand-records/console-contract";
import { Rows } from "../../parts/rows.tsx";
import { clientRows, type ClientCount } from "./client-rows.ts";
import { KeyName } from "../../parts/key-name.tsx";
import styles from "./usage.module.css";

export interface ClientTableProps {
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
          : `Messages ${days}, by the name that each client declares: declared, not proved. Whole days, in Manila.`}
      </Text>
      {clients.length > 0 && (
        <Rows
          label="Messages by assistant"
          columns={[
            { title: "Assistant", cell: ({ client }) => <strong className={styles["client"]}>{client?.name ?? "All others"}</strong> },
            { title: "Key", cell: ({ client }) => client !== undefined && <KeyName id={client.key_id} found={known.get(client.key_id)} /> },
            { title: "Messages", cell: ({ messages }) => messages.toLocaleString("en-PH") },
          ]}
          rows={clientRows(clients)}
          keyOf={({ id }) => id}
        />
      )}
    </section>
  );
}
