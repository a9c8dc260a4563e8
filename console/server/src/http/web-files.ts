import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { pageAt } from "@brand-records/console-contract/pages";
import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";
import { pagesFrom, type Manifest } from "./page-html.ts";
import { contextOf } from "./request-context.ts";

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  /** Compressed when the files were built. */
  readonly brotli: Buffer;
  readonly gzip: Buffer;
}

/** The built web files, in memory: about 1 MB. */
export interface WebFiles {
  /** Returns the HTML of the page at a path, with the placeholders that a response replaces. */
  pageAt(path: string): string;
  /** Keys are file names, which hold a hash of the content. */
  readonly assets: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** @throws if the files have not been built */
export async function loadWebFiles(folder: string): Promise<WebFiles> {
  const built = await readFile(join(folder, "index.html"), "utf8");
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
  const pages = pagesFrom(built, manifest);
  const assets = new Map<string, Asset>();
  for (const name of await readdir(join(folder, "assets"))) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const path = join(folder, "assets", name);
    const [bytes, brotli, gzip] = await Promise.all([readFile(path), readFile(`${path}.br`), readFile(`${path}.gz`)]);
    assets.set(name, { type, bytes, brotli, gzip });
  }
  return { pageAt: (path) => pages[pageAt(path)?.name ?? "other"], assets };
}

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
