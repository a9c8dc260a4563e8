import { startTcpProxy, type TcpProxy } from "@brand-records/testkit";

/** Starts a proxy before a database. Returns the database's URL through it, too. */
export async function proxied(databaseUrl: string): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
  const url = new URL(databaseUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: url.href };
}
