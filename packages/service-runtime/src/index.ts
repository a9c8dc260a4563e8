export { AnnouncedKeys, heldKey, newestSharedKey, requireSharedKey, type HeldKey } from "./announced-keys/index.ts";
export { deleteInBatches, type Deleted, type DeletedRows, type DeletionStep } from "./delete-in-batches.ts";
export { openMaintenance, type Maintenance } from "./maintenance.ts";
export { Memberships } from "./memberships.ts";
export { showSampled, type SampledGauge } from "./sampled-gauges.ts";
export { emailField, idField, nextAfterId, pageSizeField } from "./request-fields.ts";
export { runMigrations } from "./run-migrations.ts";
export { serviceSettings } from "./settings.ts";
export { startService, type ServicePorts, type StartedService } from "./start-service.ts";
