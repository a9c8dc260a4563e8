import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { describeWebhookProgram } from "../webhook-programs.ts";

beforeAll(() => ensureBackingServices("python", "go", "php", "ruby"), 300_000);

for (const language of ["python", "go", "php", "ruby"] as const) describeWebhookProgram(language);
