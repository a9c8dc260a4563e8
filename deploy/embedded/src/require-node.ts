import { LaunchError } from "./launch-error.ts";

/** What the processes need; on Linux npm's scripts run a Node that comes with the packages, whatever is installed. */
const NODE_MIN = { major: 22, minor: 19 };

/** @throws LaunchError if this Node is too old: a process would end with a stack that says nothing of it */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor)) return;
  throw new LaunchError(`This is Node ${version}: ${NODE_MIN.major}.${NODE_MIN.minor} or newer is needed. See https://nodejs.org`);
}
