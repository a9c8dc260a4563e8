export { Lifecycle, type LifecycleLog, type Stoppable } from "./lifecycle.ts";
export { identify, isAlive, killProcess, type ProcessIdentity } from "./process-identity.ts";
export { KeyedMutex, Mutex } from "./mutex.ts";
export { NODE_ARGUMENTS } from "./node-arguments.ts";
export { repeat } from "./repeat.ts";
export { runProcess, type ProcessOptions } from "./run-process.ts";
export { settlesWithin } from "./settles-within.ts";
export { stopWithin } from "./stop-within.ts";
export { WakeSignal } from "./wake-signal.ts";
