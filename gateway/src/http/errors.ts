import { errorBody } from "@brand-records/edge";
import { type AppError, ERROR_KINDS } from "@brand-records/errors";
import type { Request, Response } from "express";
import { contextOf, type ErrorForm } from "./request-context.ts";
import { send } from "./responses.ts";

/** The form of errors, except where a protocol has its own. */
export const apiForm: ErrorForm = (error, id, docs) => ({ status: ERROR_KINDS[error.kind].http, body: errorBody(error, id, docs) });

/** Returns the address of the page about errors, which has a part for each code. */
export const errorDocsOf = (publicUrl: string): string => `${publicUrl}/docs/errors`;

/** The headers of an error response. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    "Cache-Control": "private, no-store",
    ...(ERROR_KINDS[error.kind].http === 401 && { "WWW-Authenticate": 'Bearer realm="Brand Records API"' }),
    ...(error.retryAfterSeconds !== undefined && { "Retry-After": String(error.retryAfterSeconds) }),
  };
}

/** Responds with an error, in the form of its path. */
export function sendError(response: Response, error: AppError): void {
  const context = contextOf(response);
  if (error.field !== undefined) context.errorField = error.field;
  const { requestId, errorDocs, errorForm = apiForm } = context;
  const { status, body, type } = errorForm(error, requestId, errorDocs);
  response.set(errorHeaders(error));
  send(response, status, body, type);
}

/** Whether a browser opens the address as a page. Programs that accept anything get JSON. */
export const wantsPage = (request: Request): boolean => request.accepts(["json", "html"]) === "html";

interface PageLink {
  readonly path: string;
  readonly text: string;
}

/** As the console's page for signing in. */
const STYLE = [
  ":root{color-scheme:light dark}",
  "body{display:grid;place-items:center;min-height:100vh;margin:0;font:1rem/1.5 system-ui,sans-serif;color:light-dark(#000,#d3dae0);background:light-dark(#f8faf9,#101417)}",
  "main{box-sizing:border-box;width:min(26rem,100% - 2rem);padding:2rem;border:1px solid light-dark(#dee2e6,#3a444d);border-radius:1rem;overflow-wrap:anywhere;background:light-dark(#fff,#14181c)}",
  "h1{margin:0;font-size:1.5rem;line-height:1.25}a{display:inline-block;padding:.5rem 1rem;border-radius:.5rem;color:#fff;background:#0b6e5f;text-decoration:none}",
  "small{color:light-dark(#56606b,#a3adb8)}",
].join("");

/**
 * Returns the form of errors that people read: a small page with a way on. Nothing of the request is in it.
 *
 * @param title the heading. Default: the error's message
 */
export const pageForm =
  (links: readonly PageLink[], title?: string): ErrorForm =>
  (error, requestId) => {
    const ways = links.map(({ path, text }) => `<p><a href="${path}">${text}</a></p>`).join("");
    const heading = title === undefined ? `<h1>${error.message}</h1>` : `<h1>${title}</h1><p>${error.message}</p>`;
    return {
      status: ERROR_KINDS[error.kind].http,
      type: "text/html; charset=utf-8",
      body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Brand Records</title><style>${STYLE}</style><main>${heading}${ways}<p><small>Request id ${requestId}</small></p></main></html>`,
    };
  };
