import { Code, Group, Text } from "@mantine/core";
import { useMe } from "../../api/queries.ts";
import { sendCommand } from "./delivery-texts.ts";
import styles from "./preformatted.module.css";
import { CopyableText, CopyButton } from "../copyable.tsx";

interface PreformattedProps {
  readonly text: string;
  readonly label: string;
  /** Shows all of it, for texts of a known, small size. By default it scrolls beyond 24 rem. */
  readonly isWhole?: boolean;
}

/** Text from outside: shown as text, whatever it holds. It may scroll, so the keyboard must reach it. */
export const Preformatted = ({ text, label, isWhole = false }: PreformattedProps) => (
  <pre className={`${styles["text"]} ${isWhole ? styles["whole"] : ""}`} tabIndex={0} role="region" aria-label={label}>
    {text}
  </pre>
);

/** The body of an event's deliveries: indented to be read, copied byte for byte, so that its signature can be checked. */
export const BodyAsSent = ({ body }: { readonly body: string }) => (
  <section aria-labelledby="body">
    <Group justify="space-between" gap="xs">
      <Text id="body" component="h2" fw={650}>
        Body
      </Text>
      <CopyButton text={body} title="Without the line breaks and blanks that it is shown with">
        Copy as sent
      </CopyButton>
    </Group>
    <Preformatted text={indented(body)} label="Body as sent" isWhole />
  </section>
);

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    // Shown as it was sent.
    return json;
  }
}

/** How to have an event on a machine of one's own, with its breakpoints, where the operator has said how people get the command line. */
export function SendToOwn({ type, body }: { readonly type: string; readonly body: string }) {
  const { command_line } = useMe();
  if (command_line == null) return null;
  return (
    <details className="folded">
      <summary>Send this event to a machine of your own</summary>
      <Text size="sm" my="xs">
        With the command line, to a program that no one else can reach. The file <Code>secret</Code> has a signing secret of your choice,
        which the program checks too: <Code>whsec_</Code> and 32 bytes in base64.
      </Text>
      <CopyableText text={sendCommand(command_line, type, body)} label="The command" />
    </details>
  );
}
