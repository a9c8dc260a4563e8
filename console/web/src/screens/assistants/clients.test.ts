import { readFileSync } from "node:fs";
import { clientsIn } from "./clients.ts";

const page = readFileSync("docs/assistants.md", "utf8");
const clients = clientsIn(page, { url: "https://brand.example", key: "brk_test_1" });

it("finds every section of docs/assistants.md with each of its blocks", () => {
  expect(clients.map(({ id, name }) => [id, name])).toEqual([
    ["claude-code", "Claude Code"],
    ["vscode", "VS Code"],
    ["cursor", "Cursor"],
    ["inspector", "MCP Inspector"],
    ["typescript", "TypeScript and JavaScript"],
    ["python", "Python"],
    ["curl", "curl"],
    ["others", "Clients without a setting for headers"],
  ]);
  const [, sections = ""] = /^## Clients$(.*?)^## /ms.exec(page) ?? [];
  expect(clients.flatMap(({ examples }) => examples)).toHaveLength(sections.match(/^```\w/gm)?.length ?? 0);
});

it("fills in the address and the key, but not where an example reads them itself", () => {
  const examples = clients[0]?.examples ?? [];
  expect(examples[0]?.text).toBe(
    'claude mcp add --transport http brand-records "https://brand.example/api/mcp" --header "Authorization: Bearer brk_test_1"',
  );
  expect(examples[1]?.text).toContain('"Bearer ${BRAND_RECORDS_KEY}"');
  expect(JSON.stringify(clients)).not.toMatch(/records\.example|\$BRAND_RECORDS_/);
});

it("shows instructions and notes without the marks of the page", () => {
  expect(clients.flatMap(({ examples, note }) => [...examples.map(({ instruction }) => instruction), note]).join()).not.toMatch(/[`\]\n]/);
  expect(clients.at(-1)?.examples[0]?.instruction).toMatch(/^Clients that only start .* such as mcp-remote\. Give them this command:$/);
  expect(clients.at(-1)?.note).toMatch(/^Clients that can only sign in with OAuth cannot connect/);
});
