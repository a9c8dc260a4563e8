import { Text, UnstyledButton } from "@mantine/core";
import { lazy, Suspense, useEffect, useId, useState } from "react";
import { useMe } from "../api/brand.ts";
import styles from "./shell.module.css";

const loadPanel = () => import("./account-panel.tsx");
const AccountPanel = lazy(loadPanel);

/** Who is signed in, the colours, and signing out. The browser's own popover: it needs no script to be placed, and closes by itself. */
export function AccountMenu() {
  const { email } = useMe();
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  // Loaded once the page shows: signing out must work without waiting.
  useEffect(() => void Promise.allSettled([loadPanel()]), []);
  return (
    <>
      <UnstyledButton className={styles["account"]} popoverTarget={id} aria-haspopup="dialog" aria-expanded={isOpen}>
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
        <Suspense>{isOpen && <AccountPanel />}</Suspense>
      </div>
    </>
  );
}
