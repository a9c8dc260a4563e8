/** A link's target or a code span, with its line. */
export interface Reference {
  readonly line: number;
  readonly text: string;
}

export interface Markdown {
  /** The anchors of the headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of inline links, images and link definitions. */
  readonly links: readonly Reference[];
  readonly codeSpans: readonly Reference[];
}

/** Reads the parts of a page that can go stale. It knows the Markdown that prettier writes: ATX headings and fenced blocks. */
export function readMarkdown(text: string): Markdown {
  // Blank out instead of removing, so that offsets still give lines.
  const prose = text.replaceAll(/^( *)(```+).*?^\1\2$/gms, blank);
  const withoutCode = prose.replaceAll(CODE_SPAN, blank);
  const at = (offset: number): number => text.slice(0, offset).split("\n").length;
  const find = (source: string, pattern: RegExp, group: number): Reference[] =>
    [...source.matchAll(pattern)].map((match) => ({ line: at(match.index), text: (match[group] ?? "").replaceAll(/\s+/g, " ") }));
  return {
    anchors: anchorsOf(prose),
    links: [...find(withoutCode, /\]\(<?([^\s)>]+)>?(?:\s+"[^"]*")?\)/g, 1), ...find(withoutCode, /^ {0,3}\[[^\]]+\]:\s*(\S+)/gm, 1)],
    codeSpans: find(prose, CODE_SPAN, 2),
  };
}

/** A span ends with as many backticks as it starts with, in the same paragraph. */
const CODE_SPAN = /(?<!`)(`+)(?!`)((?:(?!\n\s*\n)[\s\S])+?)(?<!`)\1(?!`)/g;

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");

function anchorsOf(prose: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of prose.matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)) {
    const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    const slug = shown
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-");
    let anchor = slug;
    for (let repetition = 1; anchors.has(anchor); repetition++) anchor = `${slug}-${repetition}`;
    anchors.add(anchor);
  }
  return anchors;
}
