import { Code, Text } from "@mantine/core";
import { CopyableText } from "../copyable.tsx";
import { sendCommand } from "./send-to-own-command.ts";
import styles from "./attempt-list.module.css";

/** How to have an event on a machine of one's own, with its breakpoints. */
export const SendToOwn = ({ type, body }: { readonly type: string; readonly body: string }) => (
  <details className={styles["own"]}>
    <summary>Send this event to a machine of your own</summary>
    <Text size="sm" my="xs">
      With the command line, to a program that no one else can reach. The file <Code>secret</Code> has a signing secret of your choice,
      which the program checks too: <Code>whsec_</Code> and 32 bytes in base64.
    </Text>
    <CopyableText text={sendCommand(type, body)} label="The command" />
  </details>
);
