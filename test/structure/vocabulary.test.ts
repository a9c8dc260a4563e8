import { readFileSync } from "node:fs";
import { repositoryFiles } from "../docs/pages.ts";

/** One promise: code and documents use the field's words. docs/glossary.md defines the house words that remain. */

const REPLACEMENTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\bbells?\b/i, "WakeSignal"],
  [/FreshFlights?|fresh-flights?/, "SingleFlight"],
  [/\b(?:class|new) Turns\b|\bTurns[(<>]|\/turns\./, "KeyedMutex"],
  [/EpochBoard|epoch-board/, "EpochPublisher"],
  [/parked|parkings?\b|\bparks?\b/i, "circuit open, trips, open_until"],
  [/set[-_ ]aside|setAside/i, "dead-letter"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\bwithin\(/, "withTimeout"],
  [/\bpartsOf\b/, "chunks"],
  [/\bmaybe\(/, "nullable"],
  [/\bword\(/, "oneOf"],
  [/configOrExit|\bor-exit\b/, "loadConfig"],
  [/\bwhy-none\b|whyNone/, "the reason it returns"],
  [/\bof-receiver\b|\bofReceiver\b/, "what it returns"],
  [/\bplain-spelling\b|plainSpelling/, "what it returns"],
  [/\blossy-line\b|lossyLine/, "what it does"],
  [/\bWorld\b|\/world\b/, "what it holds"],
  [/\bsilence\b/i, "reset"],
  [/\b[Ww]hoever\b|\banew\b|\bso many\b|\bsaid so\b/, "plain English"],
  [/\b(?:said|told)\b/, "reported, fields, onNotify"],
  [/\bpatience|\b(?:const|let) asking\b/, "timeoutMs, keepalive"],
  [/^\s*\/(?:\*\*|\/) Of /, "a comment that begins with its subject"],
];

/** Names that stood for two things each. */
const DECLARED_ONCE = ["mayIntegrate", "KnownBrands", "lockLanes"];

const IGNORED = /^(?:proto\/gen|docs\/schemas)\/|\.binpb$|package-lock\.json$|^LICENSE$|^test\/structure\/vocabulary\.test\.ts$/;

const files = repositoryFiles()
  .filter((path) => !IGNORED.test(path))
  .map((path) => ({ path, lines: [path, ...readFileSync(path, "utf8").split("\n")] }));

it.each(REPLACEMENTS)("nothing matches %s, which is now: %s", (pattern) => {
  const found = files.flatMap(({ path, lines }) =>
    lines.flatMap((line, number) => (pattern.test(line) ? [`${path}:${number}: ${line.trim().slice(0, 120)}`] : [])),
  );
  expect(found).toEqual([]);
});

it.each(DECLARED_ONCE)("%s is declared in one place", (name) => {
  const declaration = new RegExp(String.raw`\b(?:function|const|let|class|interface|type) ${name}\b`);
  const found = files.flatMap(({ path, lines }) => lines.flatMap((line) => (declaration.test(line) ? [path] : [])));
  expect(found.length <= 1 ? [] : found).toEqual([]);
});
