export { serviceSettings } from "./settings.ts";
export { startService, type ServiceOptions } from "./start-service.ts";
