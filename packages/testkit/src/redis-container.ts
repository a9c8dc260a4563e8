import { freePort } from "@brand-records/postgres/embedded";
import type { ControlledServer } from "./controlled-server.ts";
import { createContainer } from "./docker-container.ts";
import { pingRedis } from "./redis-command.ts";

/** Starts the same as `startRedisProcess`, for machines with Docker and no redis-server. */
export async function startRedisContainer(
  image: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ControlledServer & { readonly url: string }> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = Object.entries({ save: "", appendonly: "no", ...settings }).flatMap(([name, value]) => [`--${name}`, value]);
  const container = await createContainer({
    image,
    service: "redis",
    port,
    containerPort: 6_379,
    command: ["redis-server", ...args],
    ping: () => pingRedis(url),
  });
  await container.start();
  return Object.assign(container, { url });
}
