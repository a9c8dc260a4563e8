import { createServer } from "node:net";
import { freePort } from "@brand-records/postgres/embedded";
import { LaunchError } from "./launch-error.ts";

/** @throws LaunchError naming the setting if somebody else listens there */
export async function requireFreePort(host: string, port: number): Promise<void> {
  try {
    await tryPort(host, port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new LaunchError(`Port ${port} is taken. Set PORT to another one: PORT=${port + 1} npm start`);
    if (code === "EACCES") throw new LaunchError(`Port ${port} needs privileges. Set PORT to one above 1023: PORT=8080 npm start`);
    throw new LaunchError(`Cannot listen on ${host}:${port} (${code}). Set HOST and PORT to an address of this machine.`, { cause: error });
  }
}

/** So many different ports of this host that were free just now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

async function tryPort(host: string, port: number): Promise<void> {
  await close(await listen(host, port));
}

type Listener = ReturnType<typeof createServer>;

function listen(host: string, port: number): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}

function close(server: Listener): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
