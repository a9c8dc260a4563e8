import { Button, SegmentedControl, Stack, Text, useMantineColorScheme, Group } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/call.ts";
import { useMe } from "../api/queries.ts";
import { forgetUnsaved } from "../api/unsaved.ts";
import { shownTab } from "../api/tab.ts";
import { SignOutIcon } from "../parts/icons.tsx";
import { announce, FormError } from "../parts/states.tsx";

/** What the account menu shows when it is open. */
export default function AccountPanel() {
  const { email, limited_to, memberships } = useMe();
  return (
    <Stack gap="sm">
      <Text size="sm" className="breakable">
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
  const { signOut, isLeaving, error } = useSignOut("session.sign_out");
  return (
    <>
      <Button variant="default" size="xs" leftSection={<SignOutIcon size={16} />} loading={isLeaving} onClick={signOut}>
        Sign out
      </Button>
      <FormError error={error} />
    </>
  );
}

/** Ends sessions of the person, and shows the sign-in page then. */
function useSignOut(operation: "session.sign_out" | "session.sign_out_everywhere") {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { mutate, isPending, isSuccess, error } = useMutation({
    mutationFn: () => call(operation, {}, operation === "session.sign_out" ? {} : { as: shownTab().email }),
  });
  const leave = async (location: string | null): Promise<void> => {
    if (location !== null) {
      // The provider ends its session, too, and leads back to /sign-in.
      window.location.assign(location);
      return;
    }
    await navigate({ to: "/sign-in" });
    // Another person may sign in.
    client.clear();
    forgetUnsaved();
    announce("Signed out");
  };
  const signOut = (): void => mutate(undefined, { onSuccess: ({ location }) => void leave(location) });
  return { signOut, isLeaving: isPending || isSuccess, error };
}

/** Ends the person's sessions in every browser, once that is confirmed. */
function SignOutEverywhere() {
  const { limited_to, memberships } = useMe();
  const [isAsking, setIsAsking] = useState(false);
  const { signOut, isLeaving, error } = useSignOut("session.sign_out_everywhere");
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
        <Button variant="default" size="xs" onClick={() => setIsAsking(false)} disabled={isLeaving}>
          Cancel
        </Button>
        <Button size="xs" color="red.9" loading={isLeaving} onClick={signOut}>
          Sign out of all
        </Button>
      </Group>
      <FormError error={error} />
    </Stack>
  );
}
