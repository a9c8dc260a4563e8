export { KeyedSemaphore, NoRoomError, type SemaphoreBounds } from "./keyed-semaphore.ts";
export { Lifecycle, type Stoppable } from "./lifecycle.ts";
export { identify, isAlive, killProcess, processExists, type ProcessIdentity } from "./process-identity.ts";
export { KeyedMutex, Mutex } from "./mutex.ts";
export { NODE_ARGUMENTS } from "./node-arguments.ts";
export { repeat } from "./repeat.ts";
export { EX_CONFIG, reportFailure, runProcess } from "./run-process.ts";
export { WakeSignal } from "./wake-signal.ts";
export { TIMED_OUT, withStopTimeout, withTimeout } from "./with-timeout.ts";
