import type { Member } from "@brand-records/console-contract";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useChange } from "../../api/queries.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormError } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { useBrand, useMe } from "../../api/brand.ts";
import { ROLE_MEANINGS } from "./roles.ts";

/** Makes a member an owner, or an owner a member. */
export default function ChangeRole({ member: { email, role }, onClose }: { readonly member: Member; onClose(): void }) {
  const { ofBrand } = useBrand();
  const isSelf = useMe().email === email;
  const to = role === "owner" ? "member" : "owner";
  const change = useChange("members.set_role", isSelf ? ["session.me", "members.list"] : ["members.list"]);
  const submit = (): void =>
    change.mutate(
      { ...ofBrand, email, role: to },
      {
        onSuccess: () => {
          announce(`${email} is ${to === "owner" ? "an owner" : "a member"} now`);
          onClose();
        },
      },
    );
  return (
    <Dialog
      title={to === "owner" ? "Make this member an owner?" : "Make this owner a member?"}
      isPending={change.isPending}
      onClose={onClose}
    >
      <Stack>
        <Text>
          <strong>{email}</strong> becomes {to === "owner" ? "an owner" : "a member"}, with the next click.{" "}
          {to === "owner" ? "An owner" : "A member"} has these rights: {ROLE_MEANINGS[to]}
        </Text>
        {to === "member" && (
          <Text size="sm" c="dimmed">
            Sign-in links that {isSelf ? "you" : "this person"} made for others, and their sessions, end.
            {isSelf && " Only another owner can make you an owner again."}
          </Text>
        )}
        <FormError error={change.error} unknownOutcome="The role may have been changed all the same: the list shows it." />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={change.isPending}>
            Cancel
          </Button>
          <Button loading={change.isPending} onClick={submit}>
            {to === "owner" ? "Make an owner" : "Make a member"}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
