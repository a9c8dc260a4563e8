import type { OperationName } from "@brand-records/console-contract";
import { useBlocker } from "@tanstack/react-router";
import { useChange } from "../api/queries.ts";
import { useShownSecret } from "./shown-secrets.ts";

/**
 * The mutation of an operation that returns what shows once. The page stays until it can show that, and closing it asks first. Lists named in
 * `changes` are read again, and not waited for. If the session has ended, they lead to the sign-in page: the call itself cannot yet.
 */
export function useSecretChange<Name extends OperationName>(name: Name, changes: readonly [OperationName, ...OperationName[]]) {
  const change = useChange(name, changes, false);
  const { isPending } = change;
  useShownSecret(isPending);
  useBlocker({ shouldBlockFn: () => isPending, enableBeforeUnload: isPending });
  return change;
}
