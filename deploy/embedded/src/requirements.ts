import { createServer } from "node:net";

/** The start failed for a reason that the person at the terminal can fix. Printed without a stack. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}

/** What the processes need. On Linux npm's scripts run the Node that comes with the packages, whichever is installed. */
const NODE_MIN = { major: 22, minor: 19 };

/** @throws LaunchError if this Node is too old: a process would end with a stack that does not name the reason */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NODE_MIN.major || (major === NODE_MIN.major && minor >= NODE_MIN.minor)) return;
  throw new LaunchError(`This is Node ${version}: ${NODE_MIN.major}.${NODE_MIN.minor} or newer is needed. See https://nodejs.org`);
}

/** @throws LaunchError naming the setting, by default PORT of npm start, if the port cannot be listened on */
export async function requireFreePort(
  host: string,
  port: number,
  { setting, command } = { setting: "PORT", command: "npm start" },
): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new LaunchError(`Port ${port} is taken. Set ${setting} to another one: ${setting}=${port + 1} ${command}`);
    if (code === "EACCES")
      throw new LaunchError(`Port ${port} needs privileges. Set ${setting} to one above 1023: ${setting}=8080 ${command}`);
    throw new LaunchError(`Cannot listen on ${host}:${port} (${code}). Set HOST and ${setting} to an address of this machine.`, {
      cause: error,
    });
  }
}

function tryPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
