import { describeWebhookProgram } from "../webhook-programs.ts";

// The other languages: webhook-programs.release.test.ts.
describeWebhookProgram("node");
