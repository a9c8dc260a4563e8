import { Button, Group, Stack, Text } from "@mantine/core";
import { Dialog } from "../../parts/dialog.tsx";
import { useBrand } from "../../api/brand.ts";

/** Says to the only owner why leaving and stepping down must wait, and what comes first. */
export default function LastOwner({ act, onClose }: { readonly act: string; onClose(): void }) {
  const { brand_name } = useBrand();
  return (
    <Dialog title={act === "leave" ? `You cannot leave ${brand_name} yet` : "You cannot become a member yet"} onClose={onClose}>
      <Stack>
        <Text>
          You are the only owner. {act === "leave" ? "Leaving" : "Becoming a member"} would leave the brand without an owner, so it is
          refused.
        </Text>
        <Text size="sm" c="dimmed">
          Make another member an owner first, with “Change role” in their row.
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>Close</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
