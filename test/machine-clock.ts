import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBackingServices } from "./setup/ensure-backing-services.ts";
import type { Env } from "./stack/options.ts";

/** The clock of a machine, which can be set while its processes run. */
export interface MachineClock {
  /** Processes that are started with this environment go by the clock. */
  readonly env: Env;
  /** Takes a second until processes see it. */
  setAhead(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a clock that is right. @throws if there is no libfaketime and none can be installed; ensure.sh prints the remedy */
export async function startMachineClock(): Promise<MachineClock> {
  const library = (await ensureBackingServices("faketime")).get("FAKETIME_LIB") ?? "";
  const folder = await mkdtemp(join(tmpdir(), "machine-clock-"));
  const file = join(folder, "ahead");
  const setAhead = (seconds: number): Promise<void> => writeFile(file, `${seconds < 0 ? "" : "+"}${seconds}s\n`);
  await setAhead(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      // Timers go by the monotonic clock.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
    setAhead,
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}
