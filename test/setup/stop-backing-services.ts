import { stopAll } from "./started-services.ts";

/** After the last test, whether it failed or not. */
export default stopAll;
