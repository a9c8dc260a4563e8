import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";
import { contextOf } from "./request-context.ts";
import type { WebFiles } from "./web-files.ts";

/**
 * Serves scripts and styles. Their names change with their content, so that browsers keep them for a year without asking. Without a name
 * serves the list of names: a gateway finds out from it which files there are at all.
 */
export function serveAssets({ assets }: WebFiles): RequestHandler {
  return (request, response) => {
    contextOf(response).route = "/console/assets/*";
    const name = request.path.slice(1);
    if (name === "") return void response.setHeader("Cache-Control", "no-store").json([...assets.keys()]);
    const asset = assets.get(name);
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
