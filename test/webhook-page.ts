import { readFileSync } from "node:fs";

/** An event as docs/webhooks.md shows it. */
export interface Body {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly brand_id: string;
  readonly test: boolean;
  readonly dashboard_url: string;
  readonly data: Record<string, unknown>;
}

/** docs/webhooks.md. Jest runs at the repository's root. */
export const page = readFileSync("docs/webhooks.md", "utf8");

/** Returns the page's fenced blocks of a language. */
export const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, found]) => found === language).map(([, , code = ""]) => code);

export const bodies = (): Body[] => blocks("json").map((block) => JSON.parse(block) as Body);
