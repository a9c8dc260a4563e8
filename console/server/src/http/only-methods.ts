import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";

/** Refuses every other method. HEAD may be left out: it must not change anything, and a server answers it as it does GET. */
export function only(...methods: readonly ("GET" | "HEAD")[]): RequestHandler {
  return (request, response, next) => {
    if ((methods as readonly string[]).includes(request.method)) return next();
    response.setHeader("Allow", methods.join(", "));
    throw new AppError("method_not_allowed", `This path supports ${methods.join(" and ")} only.`);
  };
}
