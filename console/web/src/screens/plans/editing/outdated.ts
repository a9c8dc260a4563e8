import { CallError } from "../../../api/call.ts";

/** Somebody else has changed the plan since this page read it. */
export const isChanged = (error: unknown): boolean => error instanceof CallError && error.code === "plan_changed";

/** Somebody else has changed or closed the plan: the page must read it again. */
export const isOutdated = (error: unknown): boolean =>
  isChanged(error) || (error instanceof CallError && error.code === "plan_not_pending");
