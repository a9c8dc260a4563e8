import { refuseToStart } from "@brand-records/lifecycle";

/** What our packages need, undici and node:sqlite among them: `engines` of the programs. On Linux npm's scripts run the Node that npm ci installs. */
const NODE_MIN = { major: 22, minor: 19 };

/** @param version such as `20.20.2` @returns why our programs do not run on it; undefined if they do */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor)) return undefined;
  return `This is Node ${version}: ${NODE_MIN.major}.${NODE_MIN.minor} or newer is needed. See https://nodejs.org`;
}

// A program imports this module first, because imports are evaluated in their order: others fail on an older Node, or only when it stops.
const problem = nodeProblem(process.versions.node);
if (problem !== undefined) refuseToStart(problem);
