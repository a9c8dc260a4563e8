import { ActionIcon, Button, CopyButton } from "@mantine/core";
import styles from "./copyable.module.css";
import { CheckIcon, CopyIcon } from "./icons.tsx";
import { announce } from "./status-region.tsx";

/** An id with a button that copies it. */
export function CopyableId({ id, label = "id" }: { readonly id: string; readonly label?: string }) {
  return (
    <span className={styles["id"]}>
      <code>{id}</code>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`Copy the ${label}`}
            onClick={() => {
              copy();
              announce("Copied");
            }}
          >
            {copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
          </ActionIcon>
        )}
      </CopyButton>
    </span>
  );
}

/** Text to run or to store, with a button that copies it. */
export function CopyableText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className={styles["text"]}>
      <pre>{text}</pre>
      <CopyButton value={text} timeout={3_000}>
        {({ copied, copy }) => (
          <Button
            size="xs"
            variant="default"
            leftSection={copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
            aria-label={`Copy: ${label}`}
            onClick={() => {
              copy();
              announce("Copied");
            }}
          >
            {copied ? "Copied" : "Copy"}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
