import { Button, Group } from "@mantine/core";
import { useEffect, useRef } from "react";
import { announce, Notice } from "../../../parts/states.tsx";
import { When } from "../../../parts/when.tsx";
import { fieldList } from "../plan-texts.ts";
import type { PlanEditing } from "./use-plan-editing.ts";
import { useMe } from "../../../api/queries.ts";

interface TheirChangesNoticeProps {
  readonly editing: PlanEditing;
  /** The page asks about the fields of the conflict already. */
  readonly isChoosing: boolean;
  /** Takes the focus when it changes: the person tried to complete a plan that somebody else had changed. */
  readonly refusedRevision: number | undefined;
}

/** Says what somebody else has changed while the page was open, until it is dismissed. The page shows it already. */
export function TheirChangesNotice({ editing, isChoosing, refusedRevision }: TheirChangesNoticeProps) {
  const { theirs, conflicts, dismissTheirs } = editing;
  const { email } = useMe();
  const notice = useRef<HTMLDivElement>(null);
  const fields = theirs?.fields.filter((field) => !isChoosing || !conflicts.some((conflict) => conflict.field === field)) ?? [];
  const what = fieldList(fields);
  useEffect(() => {
    if (what !== "") announce(`The plan has changed: ${what}`);
  }, [what]);
  useEffect(() => {
    if (refusedRevision !== undefined) notice.current?.focus();
  }, [refusedRevision]);
  if (theirs === undefined || fields.length === 0) return null;
  const isMe = theirs.by === email;
  return (
    <div ref={notice} tabIndex={-1} role="group" aria-label="Changes by others" className="page-title breakable">
      <Notice tone="waiting" isWide>
        <Group justify="space-between" gap="var(--space-8) var(--space-16)">
          <span style={{ flex: "1 1 16rem" }}>
            <strong className="breakable">{isMe ? "You" : (theirs.by ?? "Another person")}</strong> changed {what}
            {isMe && " in another tab"} (<When at={theirs.at} isBrief />
            ).{" "}
            {conflicts.length > 0 && !isChoosing
              ? "You are editing the same. When you save, you choose what to keep."
              : "This page shows it; your own edits are kept."}
          </span>
          <Button variant="default" size="xs" onClick={dismissTheirs}>
            OK
          </Button>
        </Group>
      </Notice>
    </div>
  );
}
