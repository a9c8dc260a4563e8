import { Button, SegmentedControl, Stack, Text, useMantineColorScheme } from "@mantine/core";
import { useChange } from "../api/queries.ts";
import { SignOutIcon } from "../parts/icons.tsx";
import { FormError } from "../parts/states.tsx";
import { useMe } from "../api/brand.ts";
import { useLeave } from "./leave.ts";
import styles from "./shell.module.css";
import SignOutEverywhere from "./sign-out-everywhere.tsx";

/** What the account menu shows when it is open. */
export default function AccountPanel() {
  const { email, limited_to, memberships } = useMe();
  return (
    <Stack gap="sm">
      <Text size="sm" className={styles["breakable"]}>
        Signed in as <strong>{email}</strong>
      </Text>
      {limited_to !== null && (
        <Text size="sm" c="dimmed">
          This session shows {memberships[0]?.brand_name} only: it began with a link of one of its owners.
        </Text>
      )}
      <Colours />
      <SignOut />
      <SignOutEverywhere />
    </Stack>
  );
}

function Colours() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label="Colours"
      size="xs"
      fullWidth
      value={colorScheme}
      onChange={(scheme) => setColorScheme(scheme)}
      data={[
        { value: "auto", label: "System" },
        { value: "light", label: "Light" },
        { value: "dark", label: "Dark" },
      ]}
    />
  );
}

function SignOut() {
  const leave = useLeave();
  const signOut = useChange("session.sign_out", []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<SignOutIcon size={16} />}
        loading={signOut.isPending || signOut.isSuccess}
        onClick={() => signOut.mutate({}, { onSuccess: ({ location }) => void leave(location) })}
      >
        Sign out
      </Button>
      <FormError error={signOut.error} />
    </>
  );
}
