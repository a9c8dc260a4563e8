/** As in package.json, which not every runtime can read. */
export const VERSION = "1.0.0";
