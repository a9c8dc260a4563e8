import type { StartedService } from "@brand-records/service-runtime";
import type { AccountsDependencies } from "./dependencies.ts";
import { heldPeppers } from "./use-cases/newest-shared-pepper.ts";
import { missingPeppers, requirePeppers } from "./use-cases/require-peppers.ts";

/**
 * Announces this process' peppers, after checking that no key in use needs another one, and reports degraded while one does.
 *
 * @returns whether a key that this process does not find may exist nevertheless, stored under a pepper that it lacks: the process was
 * frozen or cut off from the database, and others stored keys meanwhile, or another process has a different pepper under the same version
 * @throws ConfigError naming each missing pepper and its fix
 */
export async function announcePeppers(
  base: Pick<StartedService, "announceKeys" | "reportUnusableKeys">,
  deps: Pick<AccountsDependencies, "db" | "peppers" | "environment">,
): Promise<() => boolean> {
  await requirePeppers(deps);
  let missing: readonly number[] = [];
  const announced = await base.announceKeys(heldPeppers(deps.peppers), async () => {
    missing = (await missingPeppers(deps)).map(({ pepperVersion }) => pepperVersion);
    return missing.length === 0;
  });
  // Once more: until it was announced, others may have stored keys under a pepper that it lacks.
  await requirePeppers(deps);
  const unusable = (): number[] => [...new Set([...missing, ...announced.conflictingIds()])];
  base.reportUnusableKeys("KEY_PEPPERS", unusable);
  return () => !announced.isCurrent() || unusable().length > 0;
}
