const KEYWORDS = new Set(["and", "or", "unless", "bool", "offset", "inf", "nan"]);

/**
 * Returns the names of the series that an expression reads. Functions, labels and what is quoted are none. Variables of Grafana
 * (`$__rate_interval`) are none either.
 */
export function seriesIn(expression: string): string[] {
  const rest = expression
    .replaceAll(/"[^"]*"|'[^']*'/g, '""')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|\$\w+/g, "")
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "")
    .replaceAll(/\boffset\s+-?\w+/g, "");
  const names = rest.matchAll(/(?<![\w.:])([a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])/g);
  return [...new Set([...names].map(([name]) => name).filter((name) => !KEYWORDS.has(name.toLowerCase())))];
}

/** Returns the metric's name of a histogram's series. */
export const metricOf = (series: string): string => series.replace(/_(?:bucket|sum|count)$/, "");
