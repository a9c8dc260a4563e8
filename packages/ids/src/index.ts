export { generateKey, keyDigest, keyEnvironment, keyHint, type KeyEnvironment } from "./api-key.ts";
export {
  ADDED_PERMISSION_NAMES,
  ADDED_PERMISSIONS,
  PERMISSIONS,
  READ_PERMISSION,
  type AddedPermission,
  type Permission,
} from "./permissions.ts";
export { idPattern, idRule, idSequence, newId, timeOfId } from "./type-id.ts";
