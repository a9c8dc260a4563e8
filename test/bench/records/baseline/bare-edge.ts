import { serveVariant } from "./serve-variant.ts";
import { createServer } from "node:http";
import { RecordsServiceService, type ListConversionsResponse, type ListRequest } from "@brand-records/proto/records/v1";
import { Client, credentials } from "@grpc/grpc-js";
import express from "express";
import { KEEP_ALIVE_MS } from "../settings.ts";

/** Variant `bare`: the process with the public port. Without ETags, as in the product: hashing every response is a feature. */
const records = new Client(process.env["RECORDS_ADDRESS"] ?? "", credentials.createInsecure());
const { path, requestSerialize, responseDeserialize } = RecordsServiceService.listConversions;

function listConversions(request: ListRequest): Promise<ListConversionsResponse> {
  return new Promise((resolve, reject) => {
    records.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) => {
      if (error === null && response !== undefined) resolve(response);
      else reject(error ?? new Error("no response"));
    });
  });
}

const app = express();
app.disable("x-powered-by");
app.disable("etag");
app.get("/api/v1/conversions", (request, response, next) => {
  const { brand_id, limit, cursor } = request.query as Record<string, string>;
  listConversions({ brand_id: brand_id ?? "", limit: Number(limit), cursor }).then(({ data, next_cursor }) => {
    response.json({ resource: "conversions", count: data.length, ...(next_cursor != null && { next_cursor }), data });
  }, next);
});

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app);
serveVariant(server);
