import { useBlocker } from "@tanstack/react-router";
import { useRef } from "react";

interface Place {
  readonly pathname: string;
  readonly search: object;
}

/** The plan's type in its path is no other place. */
const planOf = ({ pathname }: Place): string => pathname.replace(/^\/workspaces\/[^/]+/, "");
const stepOf = ({ search }: Place): unknown => ("step" in search ? search.step : undefined);

/** Whether unsaved edits would be out of sight. From the review, the steps lead back to them. */
const isLeaving = (current: Place, next: Place): boolean =>
  planOf(current) !== planOf(next) || (stepOf(current) !== stepOf(next) && stepOf(current) !== "review");

/** Stops a navigation while edits are not saved, and asks before the tab closes. */
export function useLeaveGuard(isDirty: boolean) {
  const leaveAllowed = useRef(false);
  const guard = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !leaveAllowed.current && isLeaving(current, next),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return { guard, leaveAllowed };
}
