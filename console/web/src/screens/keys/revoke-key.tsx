import type { Key } from "@brand-records/console-contract";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { showProblems } from "../../parts/show-problems.ts";
import { FormError, Notice } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { When } from "../../parts/when.tsx";
import { useBrand } from "../../api/brand.ts";

/** Revokes a key, once its name is typed. */
export function RevokeKey({ apiKey: { id, name, hint, last_used_at }, onClose }: { readonly apiKey: Key; onClose(): void }) {
  const { ofBrand } = useBrand();
  const [typed, setTyped] = useState("");
  const [isWrong, setIsWrong] = useState(false);
  const revoke = useChange("keys.revoke", ["keys.list"]);
  const submit = (): void => {
    if (typed.trim() !== name) return showProblems(() => setIsWrong(true));
    revoke.mutate(
      { ...ofBrand, key_id: id },
      {
        onSuccess: ({ may_be_accepted_until }) => {
          announce(`${name} revoked`);
          if (may_be_accepted_until === null) onClose();
        },
      },
    );
  };
  const acceptedUntil = revoke.data?.may_be_accepted_until ?? null;
  if (acceptedUntil !== null) {
    return (
      <Dialog title="Key revoked" isKept onClose={onClose}>
        <Stack>
          <Notice tone="warning">
            <strong>{name}</strong> is revoked for good. Part of the service does not know yet: requests with it may succeed until{" "}
            <When at={acceptedUntil} isExact />, Manila time.
          </Notice>
          <Group justify="flex-end">
            <Button onClick={onClose} data-autofocus>
              Close
            </Button>
          </Group>
        </Stack>
      </Dialog>
    );
  }
  return (
    <Dialog title="Revoke this key?" isPending={revoke.isPending} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        noValidate
      >
        <Stack>
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
          <TextInput
            label="Type the key’s name to confirm"
            description={name}
            value={typed}
            onChange={({ currentTarget }) => {
              setTyped(currentTarget.value);
              setIsWrong(false);
            }}
            error={isWrong && "This is not the key’s name."}
            data-autofocus
            autoComplete="off"
          />
          <FormError error={revoke.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={revoke.isPending}>
              Cancel
            </Button>
            <Button type="submit" color="red.9" loading={revoke.isPending}>
              Revoke key
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
