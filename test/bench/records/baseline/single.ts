import { serveVariant } from "./serve-variant.ts";
import { createServer } from "node:http";
import { KEEP_ALIVE_MS } from "../settings.ts";
import { openPages } from "./page.ts";

/** Variant `single`: one process from the socket to Postgres. */
const pageOf = await openPages(process.env["DATABASE_URL"] ?? "");

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  const query = new URLSearchParams(request.url?.slice(request.url.indexOf("?") + 1));
  pageOf(query.get("brand_id") ?? "", Number(query.get("limit")), query.get("cursor")).then(
    ({ data, next_cursor }) => {
      const body = JSON.stringify({ resource: "conversions", count: data.length, ...(next_cursor !== null && { next_cursor }), data });
      response.setHeader("Content-Type", "application/json; charset=utf-8");
      response.setHeader("Content-Length", Buffer.byteLength(body));
      response.end(body);
    },
    (error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    },
  );
});
serveVariant(server);
