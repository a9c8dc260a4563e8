import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../api/queries.ts";
import { FormError } from "../parts/states.tsx";
import { useMe } from "../api/brand.ts";
import { useLeave } from "./leave.ts";

/** Ends the person's sessions in every browser, once that is confirmed. */
export default function SignOutEverywhere() {
  const { limited_to, memberships } = useMe();
  const [isAsking, setIsAsking] = useState(false);
  const leave = useLeave();
  const signOut = useChange("session.sign_out_everywhere", []);
  if (!isAsking) {
    return (
      <Button variant="subtle" size="xs" onClick={() => setIsAsking(true)}>
        Sign out everywhere
      </Button>
    );
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        {limited_to === null
          ? "This ends your sessions in all browsers, this one included."
          : `This ends your sessions that show ${memberships[0]?.brand_name} only, in all browsers, this one included.`}
      </Text>
      <Group gap="xs" grow>
        <Button variant="default" size="xs" onClick={() => setIsAsking(false)} disabled={signOut.isPending}>
          Cancel
        </Button>
        <Button
          size="xs"
          color="red.9"
          loading={signOut.isPending || signOut.isSuccess}
          onClick={() => signOut.mutate({}, { onSuccess: ({ location }) => void leave(location) })}
        >
          Sign out of all
        </Button>
      </Group>
      <FormError error={signOut.error} />
    </Stack>
  );
}
