import { Button } from "@mantine/core";
import { useEffect } from "react";
import { Notice } from "../../parts/states.tsx";
import { announce } from "../../parts/status-region.tsx";
import { When } from "../../parts/when.tsx";
import { useMe } from "../../shell/brand.tsx";
import { fieldList } from "./plan-texts.ts";
import styles from "./plans.module.css";
import type { PlanEditing } from "./use-plan-editing.ts";

/** Says what somebody else has changed while the page was open, until it is dismissed. The page shows it already. */
export function TheirChangesNotice({ editing: { theirs, conflicts, dismissTheirs } }: { readonly editing: PlanEditing }) {
  const { email } = useMe();
  const what = theirs && fieldList(theirs.fields);
  useEffect(() => {
    if (what !== undefined) announce(`The plan has changed: ${what}`);
  }, [what]);
  if (theirs === undefined) return null;
  return (
    <Notice tone="warning">
      <div className={styles["theirs"]}>
        <span>
          <strong className={styles["breakable"]}>{theirs.by === email ? "You" : (theirs.by ?? "Another person")}</strong> changed {what},{" "}
          <When at={theirs.at} isBrief />
          {theirs.by === email && ", in another tab"}.{" "}
          {conflicts.length > 0
            ? "You are editing the same. When you save, you choose what to keep."
            : "The page shows it. Your own edits are kept."}
        </span>
        <Button variant="default" size="xs" onClick={dismissTheirs}>
          OK
        </Button>
      </div>
    </Notice>
  );
}
