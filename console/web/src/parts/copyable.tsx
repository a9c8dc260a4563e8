import { ActionIcon, Button, Group, Text } from "@mantine/core";
import { useEffect, useState, type ComponentProps } from "react";
import styles from "./copyable.module.css";
import { Id } from "./id.tsx";
import { CheckIcon, CopyIcon } from "./icons.tsx";
import { announce } from "./states.tsx";

/** An id with a button that copies it. */
export function CopyableId({ id, label = "id" }: { readonly id: string; readonly label?: string }) {
  const { isCopied, isRefused, copy } = useCopy(id);
  return (
    <>
      <Group component="span" display="inline-flex" gap={4} maw="100%" wrap="nowrap">
        <Id id={id} />
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`Copy the ${label}`} onClick={copy}>
          <CopyMark isCopied={isCopied} />
        </ActionIcon>
      </Group>
      {isRefused && <NotCopied />}
    </>
  );
}

/** Text to run or to store, with a button that copies it. */
export function CopyableText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <Group
      align="start"
      gap="var(--space-8)"
      p="var(--space-8) var(--space-8) var(--space-8) var(--space-12)"
      bd="1px solid var(--mantine-color-default-border)"
      bdrs="md"
      bg="var(--sunken)"
    >
      <pre className={styles["text"]}>{text}</pre>
      <CopyButton text={text} aria-label={`Copy: ${label}`}>
        Copy
      </CopyButton>
    </Group>
  );
}

interface CopyButtonProps extends Pick<ComponentProps<"button">, "aria-label" | "title"> {
  readonly text: string;
  readonly children: string;
}

/** Copies a text. In a group, what went wrong stands below. */
export function CopyButton({ text, children, ...props }: CopyButtonProps) {
  const { isCopied, isRefused, copy } = useCopy(text);
  return (
    <>
      <Button {...props} size="xs" variant="default" leftSection={<CopyMark isCopied={isCopied} />} onClick={copy}>
        {isCopied ? "Copied" : children}
      </Button>
      {isRefused && <NotCopied />}
    </>
  );
}

const CopyMark = ({ isCopied }: { readonly isCopied: boolean }) => (isCopied ? <CheckIcon size={14} /> : <CopyIcon size={14} />);

const NotCopied = () => (
  <Text span display="block" size="sm" w="100%">
    {NOT_COPIED}
  </Text>
);

/** Shown at the button and read out. */
const NOT_COPIED = "Could not copy. Select the text.";

/** Time for which the last copy shows. */
const SHOWN_MS = 3_000;

interface Copying {
  readonly isCopied: boolean;
  /** The browser refused, or has no clipboard for a page without HTTPS. */
  readonly isRefused: boolean;
  copy(): void;
}

/** Copies a text, and says what became of it. */
function useCopy(text: string): Copying {
  const [result, setResult] = useState<{ readonly isCopied: boolean }>();
  useEffect(() => {
    if (result?.isCopied !== true) return;
    const timer = setTimeout(() => setResult(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async (): Promise<void> => {
    const isCopied = await written(text);
    setResult({ isCopied });
    announce(isCopied ? "Copied" : NOT_COPIED);
  };
  return { isCopied: result?.isCopied === true, isRefused: result?.isCopied === false, copy: () => void copy() };
}

async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A command that makes the first call, with the key in a variable. */
export const FirstCall = () => (
  <CopyableText
    label="A first call"
    text={`curl '${window.location.origin}/api/v1/campaigns?limit=2' \\\n  -H "Authorization: Bearer $BRAND_RECORDS_KEY"`}
  />
);
