import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { repositoryFiles } from "../docs/pages.ts";
import { findImports } from "./find-imports.ts";

/** Each layer of the console's pages imports those before it, and itself. Lint knows no dynamic imports, with which pages load their parts. */
const LAYERS = ["api", "parts", "shell", "screens"] as const;

const ROOT = "console/web/src";

type Place = readonly [layer: string, screen: string | undefined];

const placeOf = (file: string): Place => {
  const [layer = "", screen] = relative(ROOT, file).split("/");
  return [layer, layer === "screens" ? screen : undefined];
};

/** Returns why a file must not import another; undefined if it may. */
function refusal(file: string, imported: string): string | undefined {
  const [[layer, screen], [target, otherScreen]] = [placeOf(file), placeOf(imported)];
  const [from, to] = [LAYERS.indexOf(layer as never), LAYERS.indexOf(target as never)];
  // Beside the layers: the router and the style sheet.
  if (from === -1 || to === -1) return undefined;
  if (to > from) return `${file} is of ${layer} and imports ${imported}`;
  return screen === otherScreen || otherScreen === undefined ? undefined : `${file} imports another screen: ${imported}`;
}

it.each([
  ["api/call.ts", "parts/when.tsx", false],
  ["parts/when.tsx", "shell/shell.tsx", false],
  ["shell/shell.tsx", "screens/plans/plan.tsx", false],
  ["screens/keys/keys.tsx", "screens/members/roles.ts", false],
  ["screens/plans/steps/review.tsx", "screens/plans/editing/draft.ts", true],
  ["screens/plans/plan.tsx", "shell/error-pages.tsx", true],
])("%s, which imports %s, is allowed: %p", (file, imported, isAllowed) => {
  expect(refusal(join(ROOT, file), join(ROOT, imported)) === undefined).toBe(isAllowed);
});

it("the console's pages keep the order of their layers, and no screen imports another", () => {
  const files = repositoryFiles().filter((path) => path.startsWith(`${ROOT}/`) && /\.tsx?$/.test(path));
  const imports = files.flatMap((file) =>
    findImports(readFileSync(file, "utf8"))
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => [file, join(dirname(file), specifier)] as const),
  );
  expect(imports.length).toBeGreaterThan(300);
  expect(imports.flatMap(([file, imported]) => refusal(file, imported) ?? [])).toEqual([]);
});
