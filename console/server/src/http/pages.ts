import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { FIRST_READS_ID, type FirstRead } from "@brand-records/console-contract/protocol";
import type { Request, RequestHandler, Response } from "express";
import type { FirstReads } from "./first-reads.ts";
import { FIRST_READS_PLACEHOLDER, NONCE_PLACEHOLDER } from "./page-html.ts";
import type { WebFiles } from "./web-files.ts";

/** Scripts of our own files only, never inline. Mantine writes style elements, which carry the nonce. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/**
 * Serves a page: its frame and heading, links to its scripts, and what it reads first. The reads are data that no browser runs, so the
 * policy needs no exception for them; they are the signed-in person's, and pages are never stored.
 */
export function servePage({ pageAt }: WebFiles, firstReads: Pick<FirstReads, "of">): RequestHandler {
  const send = async (request: Request, response: Response, reads: readonly FirstRead[]): Promise<void> => {
    const nonce = randomBytes(18).toString("base64");
    response.setHeader("Content-Security-Policy", policy(nonce));
    response.setHeader("Referrer-Policy", "same-origin");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Vary", "Accept-Encoding");
    response.type("text/html; charset=utf-8");
    // A function: a replacement text would give "$&" in the data a meaning.
    const html = pageAt(request.path)
      .replaceAll(NONCE_PLACEHOLDER, nonce)
      .replace(FIRST_READS_PLACEHOLDER, () => dataElement(reads));
    if (request.acceptsEncodings("gzip") !== "gzip") return void response.end(html);
    const body = await promisify(gzip)(html);
    response.setHeader("Content-Encoding", "gzip");
    response.setHeader("Content-Length", body.length);
    response.end(body);
  };
  return (request, response) => {
    const reads = firstReads.of(request, response);
    // Without a session nothing is waited for.
    return reads === undefined ? send(request, response, []) : reads.then((done) => send(request, response, done));
  };
}

/** JSON in HTML: the only text that could end the element, or begin another, starts with "<". */
const dataElement = (reads: readonly FirstRead[]): string =>
  reads.length === 0
    ? ""
    : `<script type="application/json" id="${FIRST_READS_ID}">${JSON.stringify(reads).replaceAll("<", String.raw`\u003c`)}</script>`;
