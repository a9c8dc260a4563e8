import { serveVariant } from "./serve-variant.ts";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openMetrics, type Registry } from "@brand-records/telemetry";
import express, { type Request, type RequestHandler, type Response } from "express";
import { ROOT } from "../../harness/programs.ts";
import { KEEP_ALIVE_MS } from "../settings.ts";

/**
 * Variant `endpoint`: the product's endpoint for assistants without keys, limits, log and metrics, like variant `sdk`. It
 * loads the product's compiled code; if that changes, the responses differ, and the benchmark refuses to run.
 */
const load = (path: string): Promise<unknown> => import(pathToFileURL(join(ROOT, "gateway/dist", path)).href);
const { serveMcp } = (await load("http/mcp/endpoint.js")) as {
  serveMcp(served: object, principal: object, request: Request, response: Response): Promise<void>;
};
const { requestContext } = (await load("http/request-context.js")) as { requestContext(deadlineMs: number): RequestHandler };
const { boundBodies } = (await load("http/body.js")) as { boundBodies(metrics: Registry): RequestHandler };
const { connectServices } = (await load("services.js")) as { connectServices(config: object): object };

const DEADLINE_MS = 10_000;
const RECORDS_ADDRESS = process.env["RECORDS_ADDRESS"];
const services = connectServices({ RECORDS_ADDRESS, ACCOUNTS_ADDRESS: RECORDS_ADDRESS, PLANS_ADDRESS: RECORDS_ADDRESS });
const served = { services, publicUrl: "http://localhost", usage: { countClient() {} } };
const brand = { tier: "enterprise", verified: true, permissions: ["records:read"] };

const app = express();
app.disable("x-powered-by");
app.use(requestContext(DEADLINE_MS));
app.use(boundBodies(openMetrics("endpoint")));
app.post("/api/mcp", (request, response, next) => {
  serveMcp(served, { ...brand, brand_id: request.query["brand_id"] }, request, response).catch(next);
});

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app);
serveVariant(server);
