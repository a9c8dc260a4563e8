import { RESOURCE_NAMES } from "@brand-records/resources";
import { listRecords } from "./list-records.ts";
import type { Operation } from "./operation.ts";
import { preparePlan } from "./prepare-plan.ts";

/** The version of what /api/v1 and the assistants' tools offer. */
export const API_VERSION = "1.0.0";

/** Every operation, in the order of the OpenAPI description and of tools/list. */
export const OPERATIONS: readonly Operation[] = Object.freeze([...RESOURCE_NAMES.map(listRecords), preparePlan]);
