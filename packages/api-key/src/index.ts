export { generateKey, KEY_PATTERN, keyDigest, keyEnvironment, keyHint, type KeyEnvironment } from "./api-key.ts";
