export { check, emailField, idField } from "./check.ts";
export { serviceSettings } from "./settings.ts";
export { startService, type ServiceOptions, type ServicePorts, type StartedService } from "./start-service.ts";
