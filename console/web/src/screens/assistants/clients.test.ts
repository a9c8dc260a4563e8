import { readFileSync } from "node:fs";
import { CLIENTS } from "./clients.ts";

/** One promise: the screen and docs/assistants.md have the same clients with the same examples. */

const [, clients = ""] = /^## Clients$(.*?)^## /ms.exec(readFileSync("docs/assistants.md", "utf8")) ?? [];
const SECTIONS = clients
  .split(/^### /m)
  .slice(1)
  .map((section) => ({ name: section.split("\n")[0], examples: examplesIn(section) }));

/** A section's code blocks, or the commands in its text. */
function examplesIn(section: string): string[] {
  const blocks = [...section.matchAll(/^```\w+\n(.*?)\n```$/gms)];
  return (blocks.length > 0 ? blocks : [...section.matchAll(/`(npx [^`]+)`/g)]).map(([, code = ""]) => code);
}

/** An example as the page has it: with an address from the environment, or with one to replace. */
const onPage = (code: (typeof CLIENTS)[number]["examples"][number]["code"], example: string | undefined): string =>
  code({ url: example?.includes("https://records.example") ? "https://records.example" : "$BRAND_RECORDS_URL", key: "$BRAND_RECORDS_KEY" });

it("has the page's clients in the page's order", () => {
  expect(CLIENTS.map(({ name }) => name)).toEqual(SECTIONS.map(({ name }) => name));
});

it.each(CLIENTS)("has the page's examples for $name", ({ name, examples }) => {
  const expected = SECTIONS.find((section) => section.name === name)?.examples;
  expect(examples.map(({ code }, index) => onPage(code, expected?.[index]))).toEqual(expected);
});
