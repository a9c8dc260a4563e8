export { embeddedDataDir } from "./data-directory.ts";
export { freePort } from "./free-port.ts";
export type { EmbeddedPostgres } from "./launch-server.ts";
export { deleteEmbeddedData } from "./postmaster.ts";
export { startEmbeddedPostgres } from "./start-embedded-postgres.ts";
