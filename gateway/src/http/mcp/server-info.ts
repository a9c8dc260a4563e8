import { API_VERSION } from "../api-version.ts";

/** @see https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation */
export const SERVER_INFO = { name: "brand-records", title: "Brand Records", version: API_VERSION };

/** Tools only; the list does not change while nobody calls. */
export const CAPABILITIES = { tools: {} };

/** Oldest first. */
export const LEGACY_VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25"] as const;
export const STATELESS_VERSION = "2026-07-28";
/** Newest first, as clients choose the first they know. */
export const SUPPORTED_VERSIONS = [STATELESS_VERSION, ...LEGACY_VERSIONS.toReversed()];
