export { Bell } from "./bell.ts";
export { Lifecycle, type LifecycleLog, type Stoppable } from "./lifecycle.ts";
export { NODE_ARGUMENTS } from "./node-arguments.ts";
export { repeat } from "./repeat.ts";
export { runProcess, type ProcessOptions } from "./run-process.ts";
