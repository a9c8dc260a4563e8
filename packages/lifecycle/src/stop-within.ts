import type { Stoppable } from "./lifecycle.ts";
import { settlesWithin } from "./settles-within.ts";

/**
 * Stops with the resource, or after this time without it: for work that may be cut off anywhere, and that a database that
 * says nothing would hold up for as long as a statement may take.
 */
export function stopWithin(resource: Stoppable, milliseconds: number): { stop(): Promise<void> } {
  return {
    async stop() {
      const stopped = Promise.resolve(resource.stop());
      if (await settlesWithin(stopped, milliseconds)) await stopped;
    },
  };
}
