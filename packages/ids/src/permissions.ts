/** Every key has it. */
export const READ_PERMISSION = "records:read";

interface AddedPermissionRules {
  /** Tells owners what a key with it may do. */
  readonly allows: string;
  /** A key of the test environment cannot have it. */
  readonly liveOnly: boolean;
}

/** The permissions that an owner may add when creating a key. Names are contract. */
export const ADDED_PERMISSIONS = {
  "campaigns:prepare": { allows: "it may prepare campaign plans", liveOnly: true },
} as const satisfies Readonly<Record<string, AddedPermissionRules>>;

export type AddedPermission = keyof typeof ADDED_PERMISSIONS;

export type Permission = typeof READ_PERMISSION | AddedPermission;

export const ADDED_PERMISSION_NAMES = Object.freeze(Object.keys(ADDED_PERMISSIONS) as AddedPermission[]);

export const PERMISSIONS: readonly Permission[] = Object.freeze([READ_PERMISSION, ...ADDED_PERMISSION_NAMES]);
