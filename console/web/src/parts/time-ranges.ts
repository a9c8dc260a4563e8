/** Returns the range that a URL names, or the default. */
export const nameIn = <Ranges extends object>(ranges: Ranges, name: string | undefined, byDefault: keyof Ranges): keyof Ranges =>
  name !== undefined && Object.hasOwn(ranges, name) ? (name as keyof Ranges) : byDefault;
