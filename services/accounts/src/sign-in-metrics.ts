import { Counter, type Registry } from "@brand-records/telemetry";
import type { AccountsDependencies } from "./dependencies.ts";

/** Counts tries to sign in: those that no audit log has, of unknown links, too. */
export function signInCounter(metrics: Registry): AccountsDependencies["countSignIn"] {
  const tries = new Counter({
    name: "sign_ins_total",
    help: "Tries to sign in.",
    labelNames: ["by", "outcome"],
    registers: [metrics],
  });
  return (by, outcome) => tries.inc({ by, outcome });
}
