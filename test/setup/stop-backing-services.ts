import { stopAll } from "./started-services.ts";

/** Runs after the last test, also after failures. */
export default stopAll;
