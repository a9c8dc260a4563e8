/** Content codings of static responses, in our order of preference: the reference's script takes 303, 329 and 1,103 KB. */
const CODINGS = ["br", "gzip", "identity"] as const;
export type Coding = (typeof CODINGS)[number];

/** One entry of Accept-Encoding: a coding or `*`, and its weight from 0 to 1. */
const ENTRY = /^\s*(?<coding>[^\s;]+)\s*(?:;\s*q=(?<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

/** Less than any weight that a header can give. Identity without an entry is acceptable, but after every coding that has a weight. */
const UNLISTED_IDENTITY_WEIGHT = 1e-4;

/**
 * Returns the coding with the highest weight; of several with that weight, the one that we prefer. Returns identity if there is no
 * header or nothing is acceptable: RFC 9110, section 12.5.3, allows a server to send identity or to refuse.
 *
 * @param accepted the header Accept-Encoding
 */
export function preferredCoding(accepted: string | undefined): Coding {
  if (accepted === undefined) return "identity";
  const weights = new Map<string, number>();
  for (const entry of accepted.split(",")) {
    const { coding, weight = "1" } = ENTRY.exec(entry)?.groups ?? {};
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  const weightOf = (coding: Coding): number =>
    weights.get(coding) ?? weights.get("*") ?? (coding === "identity" ? UNLISTED_IDENTITY_WEIGHT : 0);
  const [best] = CODINGS.filter((coding) => weightOf(coding) > 0).toSorted((a, b) => weightOf(b) - weightOf(a));
  return best ?? "identity";
}
