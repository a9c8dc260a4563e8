import { Menu, Text, UnstyledButton, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { CheckIcon, SignOutIcon, ThemeIcon } from "../parts/icons.tsx";
import { useForgetEverything, useMe } from "./brand.tsx";
import styles from "./shell.module.css";

const SCHEMES: readonly { readonly scheme: MantineColorScheme; readonly text: string }[] = [
  { scheme: "auto", text: "Colours of the system" },
  { scheme: "light", text: "Light" },
  { scheme: "dark", text: "Dark" },
];

/** Who is signed in, the colours, and signing out. */
export function AccountMenu() {
  const { email } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const forgetEverything = useForgetEverything();
  const signOut = useChange("session.sign_out", []);
  return (
    <Menu position="bottom-end" width={260} transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <UnstyledButton className={styles["account"]} aria-label={`Account of ${email}`}>
          <span className={styles["initial"]} aria-hidden="true">
            {email.slice(0, 1).toUpperCase()}
          </span>
          <Text size="sm" className={styles["email"]}>
            {email}
          </Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className={styles["menuLabel"]}>{email}</Menu.Label>
        {SCHEMES.map(({ scheme, text }) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={scheme === colorScheme}
            leftSection={scheme === colorScheme ? <CheckIcon size={16} /> : <ThemeIcon size={16} />}
            onClick={() => setColorScheme(scheme)}
          >
            {text}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<SignOutIcon size={16} />}
          onClick={() =>
            signOut.mutate(
              {},
              {
                onSuccess: async () => {
                  await navigate({ to: "/sign-in" });
                  forgetEverything();
                },
              },
            )
          }
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
