import type { Response } from "express";

/** Writes a JSON answer with its length; for HEAD the same headers and no body. Not `response.json`: no ETag, no settings. */
export function sendJson(response: Response, status: number, body: string): void {
  response.statusCode = status;
  response.setHeader("Content-Type", "application/json; charset=utf-8");
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(body);
}
