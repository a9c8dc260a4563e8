import type { Key } from "@brand-records/console-contract";
import { Stack } from "@mantine/core";
import { Breakable } from "./breakable.tsx";
import { Id } from "./id.tsx";
import { StateBadge } from "./state-badge.tsx";

interface KeyNameProps {
  readonly id: string;
  /** Undefined for a key that is not among those that were read. */
  readonly found: Key | undefined;
}

/** A key as people recognise it: its name and hint. */
export function KeyName({ id, found }: KeyNameProps) {
  const { name, hint } = found ?? { name: "Unknown key", hint: id };
  return (
    <Stack component="span" gap={2} miw={0}>
      <span>
        <strong>
          <Breakable of={name} />
        </strong>{" "}
        {found != null && found.revoked_at !== null && <StateBadge state="revoked" />}
      </span>
      <span className="quiet">
        <Id id={hint} />
      </span>
    </Stack>
  );
}
