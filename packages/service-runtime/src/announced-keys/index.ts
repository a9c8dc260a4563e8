export { AnnouncedKeys } from "./announced-keys.ts";
export { heldKey, type HeldKey } from "./held-key.ts";
export { newestSharedKey, requireSharedKey } from "./shared-key.ts";
export { showUnusableKeys } from "./unusable-keys.ts";
