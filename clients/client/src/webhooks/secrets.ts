/**
 * One signing secret as it was shown, or several during a rotation: a list, or one text with commas between them. `undefined`, which a
 * missing setting is, is refused at run time.
 */
export type Secrets = string | readonly string[] | undefined;

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/**
 * Returns the secrets. Texts that are none are a mistake of the program's settings, not of a delivery.
 *
 * @throws TypeError without the text: a log may keep it
 */
export function readSecrets(secrets: Secrets): string[] {
  const texts = (typeof secrets === "string" ? [secrets] : (secrets ?? [])).flatMap((text) => text.split(/[\s,]+/));
  const present = texts.filter((text) => text !== "");
  if (present.length === 0) throw new TypeError("there is no signing secret: give the receiver's, whsec_…");
  if (present.every((secret) => SECRET.test(secret))) return present;
  throw new TypeError("a signing secret must be whole, as it was shown: whsec_ and base64");
}
