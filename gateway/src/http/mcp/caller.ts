import type { Principal } from "../../auth/principal.ts";
import type { Services } from "../../services.ts";
import type { RequestContext } from "../request-context.ts";
import type { Toolbox } from "./toolbox.ts";

/** Who sent a message, and what serving it may use. */
export interface Caller {
  readonly services: Services;
  readonly principal: Principal;
  readonly context: RequestContext;
  readonly toolbox: Toolbox;
}
