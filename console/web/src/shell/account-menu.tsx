import { Button, Popover, SegmentedControl, Stack, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { SignOutIcon } from "../parts/icons.tsx";
import { FormError } from "../parts/states.tsx";
import { announce } from "../parts/status-region.tsx";
import { useForgetEverything, useMe } from "./brand.tsx";
import styles from "./shell.module.css";

/** Who is signed in, the colours, and signing out. */
export function AccountMenu() {
  const { email } = useMe();
  return (
    <Popover position="bottom-end" width={280} trapFocus withinPortal={false} transitionProps={{ duration: 0 }}>
      <Popover.Target>
        <UnstyledButton className={styles["account"]}>
          <span className={styles["initial"]} data-initial={email.slice(0, 1).toUpperCase()} />
          <Text size="sm" className={styles["email"]}>
            {email}
          </Text>
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="Account">
        <Stack gap="sm">
          <Text size="sm" className={styles["breakable"]}>
            Signed in as <strong>{email}</strong>
          </Text>
          <Colours />
          <SignOut />
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
  const navigate = useNavigate();
  const forgetEverything = useForgetEverything();
  const signOut = useChange("session.sign_out", []);
  const leave = async (location: string | null): Promise<void> => {
    if (location !== null) {
      // The provider ends its session, too, and leads back to /sign-in.
      window.location.assign(location);
      return;
    }
    await navigate({ to: "/sign-in" });
    forgetEverything();
    announce("Signed out");
  };
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
