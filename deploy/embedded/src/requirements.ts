import { createServer } from "node:net";

/** The start failed for a reason that the person at the terminal can fix. Printed without a stack. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
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
