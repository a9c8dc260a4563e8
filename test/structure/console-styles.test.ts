import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** One promise: what the console shows has its styles: those of Mantine that it needs, and its own of one scale. */

const MANTINE = "node_modules/@mantine/core";
const COMPONENTS = join(MANTINE, "esm/components");

/** The components that the console imports by name. */
function imported(): Set<string> {
  const names = new Set<string>();
  for (const file of globSync("console/web/src/**/*.{ts,tsx}")) {
    for (const [, list = ""] of readFileSync(file, "utf8").matchAll(/(?:import|export) \{([^}]*)\} from "@mantine\/core"/g)) {
      for (const name of list.split(",")) names.add(name.trim().split(" ")[0] ?? "");
    }
  }
  return names;
}

/** A component's folder, and those of the components that it is made of. */
function componentsOf(component: string, seen = new Set<string>()): Set<string> {
  if (seen.has(component) || !/^[A-Z]/.test(component) || !existsSync(join(COMPONENTS, component))) return seen;
  seen.add(component);
  for (const file of globSync(join(COMPONENTS, component, "**/*.mjs"))) {
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/from "(\.\.?\/[^"]+)"/g)) {
      const [other = ""] = relative(COMPONENTS, normalize(join(dirname(file), path))).split("/");
      componentsOf(other, seen);
    }
  }
  return seen;
}

/** Belongs to a part of a component of which the console uses another: the mark of a select. */
const UNUSED = new Set(["Popover"]);

it("the style sheet has the styles of every component that is used", () => {
  const sheet = readFileSync("console/web/src/mantine.css", "utf8");
  const used = new Set([...imported()].flatMap((name) => [...componentsOf(name)]));
  expect(used.size).toBeGreaterThan(20);
  const missing = [...used].filter(
    (name) => !UNUSED.has(name) && existsSync(join(MANTINE, `styles/${name}.css`)) && !sheet.includes(`/${name}.css"`),
  );
  expect(missing).toEqual([]);
});

/** Everything that the pages' own style sheets and components say of looks. */
const LOOKS = globSync("console/web/src/**/*.{css,tsx}").filter((file) => !/(tokens|mantine)\.css$/.test(file));

it("colours are written in one file, and sizes of type are those of the scale", () => {
  const stray = LOOKS.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    // White on a filled ground is white in both schemes.
    const found = text.match(/light-dark\(|#(?!fff\b)[0-9a-f]{3,8}\b(?=[;,") ])|font-size: [\d.]+r?em|fz="[\d.]+rem"/g) ?? [];
    return found.map((one) => `${file}: ${one}`);
  });
  expect(stray).toEqual([]);
});

it("space is that of the scale", () => {
  const space = readFileSync("console/web/src/tokens.css", "utf8");
  const steps = [...space.matchAll(/--space-(\d+): ([\d.]+)rem;/g)];
  expect(steps.length).toBeGreaterThan(5);
  expect(steps.filter(([, px, rem]) => Number(px) !== Number(rem) * 16)).toEqual([]);
  const stray = LOOKS.flatMap((file) => {
    const found =
      readFileSync(file, "utf8").match(/(?<=[\s{])((padding|margin|gap)[a-z-]*: |(gap|[pm][tblrsexy]?)=")[^;"]*[\d.]+rem/g) ?? [];
    // A button beside fields with labels begins where they do: below one.
    return found.filter((one) => one !== "margin-top: 1.375rem").map((one) => `${file}: ${one}`);
  });
  expect(stray).toEqual([]);
});
