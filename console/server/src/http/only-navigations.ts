import { AppError } from "@brand-records/errors";
import type { RequestHandler } from "express";

/**
 * Refuses what no person opens in a tab: images, frames, scripts' requests and prefetches, which any web page can have a browser send.
 * Browsers that do not send these headers pass.
 */
export const onlyNavigations: RequestHandler = ({ headers }, _response, next) => {
  const { "sec-fetch-mode": mode = "navigate", "sec-fetch-dest": destination = "document", "sec-purpose": purpose } = headers;
  if (mode === "navigate" && destination === "document" && purpose === undefined) return next();
  throw new AppError("origin_not_allowed", "Open this address in a tab of its own: no page may request it.");
};
