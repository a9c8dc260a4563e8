import type { Key } from "@brand-records/console-contract";
import { Button, Group, Text } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { announce, Notice } from "../../parts/states.tsx";
import { When } from "../../parts/when.tsx";
import { ConfirmByName } from "../../parts/confirm-dialog.tsx";

/** Revokes a key, once its name is typed. */
export function RevokeKey({ apiKey: { id, name, hint, last_used_at }, onClose }: { readonly apiKey: Key; onClose(): void }) {
  const revoke = useChange("keys.revoke", ["keys.list"]);
  const submit = (): void => {
    revoke.make({ key_id: id }, ({ may_be_accepted_until }) => {
      announce(`${name} revoked`);
      if (may_be_accepted_until === null) onClose();
    });
  };
  const acceptedUntil = revoke.data?.may_be_accepted_until ?? null;
  if (acceptedUntil !== null) {
    return (
      <Dialog title="Key revoked" isKept onClose={onClose}>
        <Notice tone="warning">
          <strong>{name}</strong> is revoked for good. Part of the service does not know yet: requests with it may succeed until{" "}
          <When at={acceptedUntil} isExact />, Manila time.
        </Notice>
        <Group justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            Close
          </Button>
        </Group>
      </Dialog>
    );
  }
  return (
    <ConfirmByName
      title="Revoke this key?"
      name={name}
      nameKind="key’s name"
      change={revoke}
      action="Revoke key"
      onConfirm={submit}
      onClose={onClose}
    >
      <Text>
        <strong>{name}</strong> (<code>{hint}</code>) is refused with its next request. This cannot be undone.
      </Text>
      <Text size="sm" c="dimmed">
        {last_used_at === null ? (
          "No use of it is recorded. One of the last minute may not show yet."
        ) : (
          <>
            Last used <When at={last_used_at} />.
          </>
        )}
      </Text>
    </ConfirmByName>
  );
}
