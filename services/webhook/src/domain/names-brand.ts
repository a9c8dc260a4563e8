/** A message of the log, whether or not it can be read as an event. */
interface Message {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether a message names a brand anywhere. An id that only begins like the brand's does not count. */
export function namesBrand({ key, value, headers }: Message, brandId: string): boolean {
  const name = new RegExp(`${brandId}(?![0-9a-z])`);
  return [key, value.toString("latin1"), ...Object.values(headers)].some((text) => name.test(text));
}
