export { check, emailField, idField } from "./check.ts";
export { serviceSettings } from "./settings.ts";
export { startService, type ServiceOptions } from "./start-service.ts";
