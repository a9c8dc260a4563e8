import type { Request } from "express";
import { apiForm } from "./errors.ts";
import type { ErrorForm } from "./request-context.ts";

/** Whether a browser opens the address as a page. Programs that accept anything get JSON. */
export const wantsPage = (request: Request): boolean => request.accepts(["json", "html"]) === "html";

export interface PageLink {
  readonly path: string;
  readonly text: string;
}

const STYLE =
  ":root{color-scheme:light dark}body{max-width:36rem;margin:15vh auto;padding:0 1.25rem;font:1rem/1.5 system-ui,sans-serif}h1{font-size:1.5rem}small{opacity:.75}";

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
      status: apiForm(error, requestId).status,
      type: "text/html; charset=utf-8",
      body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Brand Records</title><style>${STYLE}</style><main>${heading}${ways}<p><small>Request id ${requestId}</small></p></main></html>`,
    };
  };
