import type { Member } from "@brand-records/console-contract";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand } from "../../api/brand.ts";

/** Removes another member. */
export default function RemoveMember({ member: { email, role }, onClose }: { readonly member: Member; onClose(): void }) {
  const { ofBrand, brand_name } = useBrand();
  const remove = useChange("members.remove", ["members.list"]);
  const submit = (): void =>
    remove.mutate(
      { ...ofBrand, email },
      {
        onSuccess: () => {
          announce(`${email} removed`);
          onClose();
        },
      },
    );
  return (
    <Dialog title="Remove this member?" isPending={remove.isPending} onClose={onClose}>
      <Stack>
        <Text>
          <strong>{email}</strong> loses access to {brand_name} with the next click.
        </Text>
        <Text size="sm" c="dimmed">
          API keys that this person created keep working: revoke those that no one else needs.
          {role === "owner" && " Sign-in links that this person made for others, and their sessions, end."}
        </Text>
        <FormError error={remove.error} unknownOutcome="The person may have been removed all the same: the list shows it." />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={remove.isPending}>
            Cancel
          </Button>
          <Button color="red.9" loading={remove.isPending} onClick={submit}>
            Remove member
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
