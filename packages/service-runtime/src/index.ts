export {
  countingId,
  nextEntryId,
  recorderOf,
  type NewAuditEntry,
  type NoticeAction,
  type RecordChange,
  refusedEntry,
  type SentAuditEntry,
} from "./audit-entries.ts";
export { auditEntriesOf, AuditOutbox, noticeWriter } from "./audit-outbox.ts";
export { AnnouncedKeys } from "./announced-keys.ts";
export { heldKey, newestSharedKey, requireSharedKey, type HeldKey } from "./living-processes.ts";
export { deleteInBatches, type Deleted, type DeletedRows, type DeletionStep } from "./delete-in-batches.ts";
export { openMaintenance, type Maintenance } from "./maintenance.ts";
export { prepareSchema } from "./prepare-schema.ts";
export { RemoteGrants } from "./remote-grants.ts";
export { showSampled, type SampledGauge } from "./sampler.ts";
export { emailField, idField, nameField, nextAfterId, pageSizeField, pseudonymField } from "./request-fields.ts";
export { parseOptions, runJob, type Job } from "./run-job.ts";
export { runMigrations } from "./run-migrations.ts";
export { serviceSettings } from "./settings.ts";
export { startService, type ServicePorts, type StartedService } from "./start-service.ts";
