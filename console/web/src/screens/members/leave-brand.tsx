import type { Member } from "@brand-records/console-contract";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormError } from "../../parts/states.tsx";
import { useBrand, useMe } from "../../api/brand.ts";

/** Ends one's own membership. The session, which is read again, leads away: to another brand, or to the sign-in page. */
export default function LeaveBrand({ member: { role }, onClose }: { readonly member: Member; onClose(): void }) {
  const { ofBrand, brand_name } = useBrand();
  const { memberships } = useMe();
  const leave = useChange("members.leave", ["session.me"]);
  return (
    <Dialog title={`Leave ${brand_name}?`} isPending={leave.isPending} onClose={onClose}>
      <Stack>
        <Text>
          You lose access to {brand_name} at once{memberships.length === 1 && ", and are signed out"}. Only an owner can add you again.
        </Text>
        <Text size="sm" c="dimmed">
          API keys that you created keep working: revoke those that no one else needs.
          {role === "owner" && " Sign-in links that you made for others, and their sessions, end."}
        </Text>
        <FormError error={leave.error} unknownOutcome="You may have left all the same: load the page again to see." />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={leave.isPending}>
            Cancel
          </Button>
          <Button color="red.9" loading={leave.isPending} onClick={() => leave.mutate(ofBrand, { onSuccess: onClose })}>
            Leave
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
