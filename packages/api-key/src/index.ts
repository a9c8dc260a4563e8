export { generateKey, keyDigest, keyEnvironment, keyHint, type KeyEnvironment } from "./api-key.ts";
