import { describeWebhookProgram } from "../webhook-programs.ts";

// The other languages: webhook-programs.full.test.ts.
describeWebhookProgram("node");
