export { embeddedDataDir } from "./data-directory.ts";
export { EmbeddedPostgresError } from "./errors.ts";
export { freePort } from "./free-port.ts";
export type { EmbeddedPostgres } from "./launch-server.ts";
export { deleteEmbeddedData, stopOrphanedPostgres } from "./postmaster.ts";
export { startEmbeddedPostgres, type EmbeddedPostgresOptions } from "./start-embedded-postgres.ts";
