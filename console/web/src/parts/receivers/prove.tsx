import { Code } from "@mantine/core";
import { useMe } from "../../api/queries.ts";

/** Names the program that tries a receiver, where the operator has said how people get it. */
export function Prove() {
  const { command_line } = useMe();
  if (command_line == null) return null;
  return (
    <>
      <Code>{command_line} receivers prove</Code> checks from your machine what the receiver must accept and must refuse.
    </>
  );
}
