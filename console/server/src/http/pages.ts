import { randomBytes } from "node:crypto";
import type { RequestHandler } from "express";
import type { WebFiles } from "./web-files.ts";

const NONCE_PLACEHOLDER = "__CSP_NONCE__";

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

/** Serves the page that every path shows. */
export function servePage({ page }: WebFiles): RequestHandler {
  return (_request, response) => {
    const nonce = randomBytes(18).toString("base64");
    response.setHeader("Content-Security-Policy", policy(nonce));
    response.setHeader("Referrer-Policy", "same-origin");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.type("text/html; charset=utf-8");
    response.end(page.replaceAll(NONCE_PLACEHOLDER, nonce));
  };
}
