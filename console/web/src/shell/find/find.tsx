import { UnstyledButton } from "@mantine/core";
import { useEffect, useState } from "react";
import { FindIcon } from "../../parts/icons.tsx";
import { loadedDialog } from "../../parts/loaded-part.tsx";
import styles from "./find.module.css";

const FindDialog = loadedDialog(async () => (await import("./find-dialog.tsx")).default);

const KEYS = navigator.userAgent.includes("Mac") ? "⌘K" : "Ctrl+K";

/** Opens the search for pages, receivers, brands and ids: by the button, or ⌘K and Ctrl+K, also from within a field, but not over a dialog. */
export function Find() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
      // Browsers lead to their own search.
      event.preventDefault();
      // Escape, and what the search opens, would close a dialog too, with what is typed in it.
      if (document.querySelector("[role=dialog][aria-modal=true]") === null) setOpen(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  return (
    <>
      <UnstyledButton
        className={`${styles["button"]} choice`}
        onClick={() => setOpen(true)}
        aria-label={`Find ${KEYS}`}
        aria-keyshortcuts="Control+K Meta+K"
      >
        <FindIcon />
        <span className={styles["text"]}>Find</span> <kbd className={styles["text"]}>{KEYS}</kbd>
      </UnstyledButton>
      {isOpen && <FindDialog onClose={() => setOpen(false)} />}
    </>
  );
}
