import { AppError } from "@brand-records/errors";
import type { Request, Response } from "express";

/**
 * @param allowed as in the header `Allow`
 * @throws AppError `method_not_allowed`
 */
export function requireMethod(request: Request, response: Response, allowed: string): void {
  if (allowed.split(", ").includes(request.method)) return;
  response.setHeader("Allow", allowed);
  throw new AppError("method_not_allowed", `This path answers ${allowed} only.`);
}
