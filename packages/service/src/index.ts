export { check, emailField, idField, nextAfterId, pageSizeField } from "./check.ts";
export { serviceSettings } from "./settings.ts";
export { startService, type ServicePorts, type StartedService } from "./start-service.ts";
