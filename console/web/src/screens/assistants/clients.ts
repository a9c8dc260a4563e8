/** What takes the place of the service's address and of a key in an example. */
export interface Place {
  /** URL without a trailing slash. */
  readonly url: string;
  readonly key: string;
}

export interface Client {
  /** Name in the page's URL. */
  readonly id: string;
  readonly name: string;
  /** The examples are programs, which take the address and the key from the environment. */
  readonly isProgram: boolean;
  readonly examples: readonly {
    /** What to do with the text. */
    readonly instruction: string;
    readonly text: string;
  }[];
  /** What else there is to know; empty if nothing. */
  readonly note: string;
}

/** In the order of the page's sections. */
const IDS = ["claude-code", "vscode", "cursor", "inspector", "typescript", "python", "curl", "others"];

/** A paragraph that ends with a colon, and the block behind it. */
const EXAMPLE = /^((?:.+\n)*.+:)\n\n```(\w+)\n([^]*?)\n```$/gm;

const withoutMarks = (text: string): string =>
  text.replaceAll(/\[([^\]]*)\]\([^)]*\)|[`\n]/g, (mark, link) => link ?? (mark === "\n" ? " " : ""));

/** How each assistant connects: the sections under "Clients" of docs/assistants.md. */
export function clientsIn(page: string, { url, key }: Place): Client[] {
  const [, sections = ""] = /^## Clients$(.*?)^## /ms.exec(page) ?? [];
  const filledIn = (code: string): string =>
    code.replaceAll(/\$BRAND_RECORDS_URL|https:\/\/records\.example/g, url).replaceAll("$BRAND_RECORDS_KEY", key);
  return sections
    .split(/^### /m)
    .slice(1)
    .map((section, index) => {
      const [name = ""] = section.split("\n");
      const text = section.slice(name.length);
      const found = [...text.matchAll(EXAMPLE)];
      return {
        id: IDS[index] ?? name,
        name,
        isProgram: found.some(([, , language]) => language === "js" || language === "python"),
        examples: found.map(([, instruction = "", , code = ""]) => ({ instruction: withoutMarks(instruction), text: filledIn(code) })),
        note: withoutMarks(text.replaceAll(EXAMPLE, "").trim()),
      };
    });
}

/** The environment of the examples that are programs. */
export const environmentOf = ({ url, key }: Place): string => `export BRAND_RECORDS_URL=${url}\nexport BRAND_RECORDS_KEY=${key}`;
