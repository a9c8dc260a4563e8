import { UsageFailure } from "@brand-records/command-line";

/** @throws UsageFailure unless the text is an http or https URL without a user name and a fragment */
export function deliveryTarget(text: string, option = "--to"): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageFailure(`${option} must be a URL, http:// or https://`, `Such as ${option} http://localhost:3000/hooks`);
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    throw new UsageFailure(`${option} must have no user name, password or fragment: the service registers no such URL`);
  }
  return url;
}

/** The word in the header names, `X-<word>-Signature`. @throws UsageFailure */
export function headerWord(text: string): string {
  if (/^[A-Za-z][A-Za-z0-9-]{0,31}$/.test(text)) return text;
  throw new UsageFailure(
    "--header-word must be a letter, then letters, digits or hyphens",
    "It is Service unless your operator chose another.",
  );
}

/** Where the service explains receivers: a path alone if BRAND_RECORDS_URL names no service. */
export const guideOf = ({ BRAND_RECORDS_URL: url = "" }: NodeJS.ProcessEnv): string =>
  `${URL.canParse(url) ? url.replace(/\/+$/, "") : ""}/docs/webhooks`;

export const originOf = (env: NodeJS.ProcessEnv): string => {
  const { BRAND_RECORDS_URL: url = "" } = env;
  return URL.canParse(url) ? new URL(url).origin : "https://records.example";
};
