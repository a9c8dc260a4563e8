/** Versions of the client generators and of what builds the generated clients. */
export const PINNED = {
  "@hey-api/openapi-ts": "0.99.0",
  /** Version for the generator only: it needs the compiler's JavaScript API, which TypeScript 7 lacks. */
  typescript: "5.9.3",
  "openapi-python-client": "0.29.1",
  "github.com/oapi-codegen/oapi-codegen/v2": "v2.8.2",
  "github.com/oapi-codegen/runtime": "v1.8.0",
} as const;
