import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";
import { contextOf } from "./request-context.ts";
import type { WebFiles } from "./web-files.ts";

/** Serves scripts and styles. Their names change with their content, so that browsers keep them for a year without asking. */
export function serveAssets({ assets }: WebFiles): RequestHandler {
  return (request, response) => {
    contextOf(response).route = "/console/assets/*";
    const asset = assets.get(request.path.slice(1));
    if (asset === undefined) throw new AppError("not_found", "This file is not part of the console. Reload the page.");
    response.setHeader("Cache-Control", "public, max-age=31536000, immutable");
    response.setHeader("Vary", "Accept-Encoding");
    response.type(asset.type);
    // Browsers name gzip first, though brotli is a sixth smaller.
    const coding = ["br", "gzip"].find((name) => request.acceptsEncodings(name) === name);
    if (coding !== undefined) response.setHeader("Content-Encoding", coding);
    const body = { br: asset.brotli, gzip: asset.gzip }[coding ?? ""] ?? asset.bytes;
    response.setHeader("Content-Length", body.length);
    response.end(body);
  };
}
