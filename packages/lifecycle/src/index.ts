export { Lifecycle, type LifecycleLog, type Stoppable } from "./lifecycle.ts";
export { runProcess, type ProcessOptions } from "./run-process.ts";
