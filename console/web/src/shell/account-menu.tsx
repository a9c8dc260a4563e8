import { Text, UnstyledButton } from "@mantine/core";
import { useId, useState } from "react";
import { loadedPart } from "../parts/loaded-part.tsx";
import styles from "./shell.module.css";
import { useMe } from "../api/queries.ts";

const AccountPanel = loadedPart(async () => (await import("./account-panel.tsx")).default, null);

/** Who is signed in, the colours, and signing out. The browser's own popover: it needs no script to be placed, and closes by itself. */
export function AccountMenu() {
  const { email } = useMe();
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <UnstyledButton className={`${styles["account"]} choice`} popoverTarget={id} aria-haspopup="dialog" aria-expanded={isOpen}>
        <span className={styles["initial"]} data-initial={email.slice(0, 1).toUpperCase()} />
        <Text size="sm" className={styles["wide"]}>
          {email}
        </Text>
      </UnstyledButton>
      <div
        id={id}
        popover="auto"
        className={styles["panel"]}
        onToggle={({ newState }) => setIsOpen(newState === "open")}
        {...(isOpen && { role: "dialog", "aria-label": "Account" })}
      >
        {isOpen && <AccountPanel />}
      </div>
    </>
  );
}
