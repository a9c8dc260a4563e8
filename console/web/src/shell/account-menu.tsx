import { Button, Popover, SegmentedControl, Stack, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { lazy, Suspense } from "react";
import { useChange } from "../api/queries.ts";
import { SignOutIcon } from "../parts/icons.tsx";
import { FormError } from "../parts/states.tsx";
import { useMe } from "../api/brand.ts";
import { useLeave } from "./leave.ts";
import styles from "./shell.module.css";

const SignOutEverywhere = lazy(() => import("./sign-out-everywhere.tsx"));

/** Who is signed in, the colours, and signing out. */
export function AccountMenu() {
  const { email, limited_to, memberships } = useMe();
  return (
    <Popover position="bottom-end" width={280} trapFocus withinPortal={false} transitionProps={{ duration: 0 }}>
      <Popover.Target>
        <UnstyledButton className={styles["account"]}>
          <span className={styles["initial"]} data-initial={email.slice(0, 1).toUpperCase()} />
          <Text size="sm" className={styles["wide"]}>
            {email}
          </Text>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Account">
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
          <Suspense>
            <SignOutEverywhere />
          </Suspense>
        </Stack>
      </Popover.Dropdown>
    </Popover>
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
