import { readFileSync, statSync } from "node:fs";
import { SHOTS } from "../screenshots/shots.ts";
import { findPages, repositoryFiles } from "./pages.ts";

/** One promise: the documentation's pictures are small, are shown, and come from `npm run screenshots`, but for those of a page before it was redone. */

const BYTES_MAX = 150_000;

const pictures = repositoryFiles().filter((path) => path.startsWith("docs/images/"));
const pages = findPages().map((page) => readFileSync(page, "utf8"));
const documented = SHOTS.filter((shot) => shot.documented !== undefined).map(({ name }) => `docs/images/${name}.png`);

it("docs/images has the pictures that npm run screenshots writes, and no others", () => {
  expect(pictures.filter((path) => !path.includes("/redone/")).toSorted()).toEqual(documented.toSorted());
});

it.each(pictures)("%s is shown by a page and has at most 150 KB", (path) => {
  expect(pages.some((text) => text.includes(`${path.slice("docs/".length)})`))).toBe(true);
  expect(statSync(path).size).toBeLessThanOrEqual(BYTES_MAX);
});
