/** Generators of clients, and what the generated clients are built with. A new version is entered here and nowhere else. */
export const PINNED = {
  "@hey-api/openapi-ts": "0.99.0",
  /** Only the generator uses it: it needs the compiler's JavaScript API, which TypeScript 7 does not have. */
  typescript: "5.9.3",
  "openapi-python-client": "0.29.1",
  "github.com/oapi-codegen/oapi-codegen/v2": "v2.8.2",
  "github.com/oapi-codegen/runtime": "v1.8.0",
} as const;
