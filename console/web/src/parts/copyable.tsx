import { ActionIcon, Button, Text } from "@mantine/core";
import styles from "./copyable.module.css";
import { CheckIcon, CopyIcon } from "./icons.tsx";
import { NOT_COPIED, useCopy } from "./use-copy.ts";

/** An id with a button that copies it. */
export function CopyableId({ id, label = "id" }: { readonly id: string; readonly label?: string }) {
  const { isCopied, isRefused, copy } = useCopy(id);
  return (
    <>
      <span className={styles["id"]}>
        <code>{id}</code>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Copy the ${label}`} onClick={copy}>
          {isCopied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
        </ActionIcon>
      </span>
      {isRefused && <NotCopied />}
    </>
  );
}

/** Text to run or to store, with a button that copies it. */
export function CopyableText({ text, label }: { readonly text: string; readonly label: string }) {
  const { isCopied, isRefused, copy } = useCopy(text);
  return (
    <div className={styles["text"]}>
      <pre>{text}</pre>
      <Button
        size="xs"
        variant="default"
        leftSection={isCopied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
        aria-label={`Copy: ${label}`}
        onClick={copy}
      >
        {isCopied ? "Copied" : "Copy"}
      </Button>
      {isRefused && <NotCopied />}
    </div>
  );
}

export const NotCopied = () => (
  <Text span display="block" size="sm" w="100%">
    {NOT_COPIED}
  </Text>
);
