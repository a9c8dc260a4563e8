import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@brand-records/postgres/embedded";
import { startOnSharedServices, type SharedStack } from "../stack.ts";
import { repositoryFiles } from "../docs/pages.ts";
import { readMarkdown } from "../docs/read-markdown.ts";

/** One promise: an engineer who has only the address finds every guide, and everything that the guides link to. */

const GUIDES = ["api", "errors", "syncing", "webhooks", "assistants", "command-line", "clients", "python"];
const EXAMPLES = ["examples/airbyte", "examples/dlt", "examples/python", "examples/relay"];
const READERS_OF_THE_REPOSITORY = /\.local\/run\.json|npm start|npx brandctl|npx node|the repository/;
/** With a path, and what HTML and replacements give a meaning. */
const PUBLIC_URL = "https://api.brand-records.example/r$&d";
const ORIGIN = new URL(PUBLIC_URL).origin;

let stack: SharedStack;
beforeAll(async () => {
  stack = await startOnSharedServices({ PUBLIC_URL });
});
afterAll(() => stack.stop());

const read = async (path: string): Promise<{ status: number; type: string | null; text: string }> => {
  const response = await fetch(stack.url + path);
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};

/** Where a page's links lead, as paths with their anchors; other places are left out. */
const linksIn = (path: string, links: Iterable<string>): string[] =>
  [...links].flatMap((link) => {
    const { origin, pathname, hash } = new URL(link.replace(PUBLIC_URL, ORIGIN), ORIGIN + path);
    return origin === ORIGIN ? [pathname + hash] : [];
  });
const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => value ?? "");

it("every link of the guides, of their Markdown and of llms.txt leads to something that is there", async () => {
  const { text: llms } = await read("/llms.txt");
  const wanted = linksIn(
    "/llms.txt",
    readMarkdown(llms).links.map(({ text }) => text),
  );
  expect(wanted).toEqual(expect.arrayContaining(GUIDES.map((name) => `/docs/${name}.md`)));
  wanted.push(...GUIDES.map((name) => `/docs/${name}`));
  const pages = new Map<string, Set<string>>();
  const missing: string[] = [];
  for (const link of wanted) {
    const [path = "", anchor] = link.split("#");
    if (!pages.has(path)) {
      const { status, type, text } = await read(path);
      // The assistants' endpoint needs a key.
      if (status !== 200 && path !== "/api/mcp") missing.push(`${link}: ${status}`);
      const isGuide = type?.startsWith("text/html") === true && path !== "/docs";
      const markdown = type?.startsWith("text/markdown") === true ? readMarkdown(text) : undefined;
      pages.set(path, markdown === undefined ? new Set(attributes(text, "id")) : new Set(markdown.anchors));
      if (isGuide) wanted.push(...linksIn(path, attributes(text, "href")));
      if (markdown !== undefined)
        wanted.push(
          ...linksIn(
            path,
            markdown.links.map(({ text: target }) => target),
          ),
        );
    }
    if (anchor !== undefined && anchor !== "" && pages.get(path)?.has(anchor) !== true) missing.push(link);
  }
  expect(missing).toEqual([]);
  expect(pages.size).toBeGreaterThan(30);
});

it.each(GUIDES)("%s has the deployment's address, and nothing of elsewhere", async (name) => {
  const { text } = await read(`/docs/${name}`);
  expect(text).not.toMatch(/<script|<iframe|<img|<link rel="stylesheet"|@import|url\(/);
  const markdown = (await read(`/docs/${name}.md`)).text;
  for (const form of [text, markdown]) {
    expect(form.match(/https:\/\/records\.example(?!\/developers\/events\/)/g)).toBeNull();
    expect(form.match(READERS_OF_THE_REPOSITORY)).toBeNull();
  }
});

it.each(EXAMPLES)("%s is copied whole by its page's command, and needs no repository", async (name) => {
  const { text } = await read(`/docs/${name}.md`);
  expect(text.match(READERS_OF_THE_REPOSITORY)).toBeNull();
  const [command = ""] = /^curl .*$/m.exec(text) ?? [];
  const folder = await mkdtemp(join(tmpdir(), "example-"));
  await promisify(execFile)("bash", ["-c", command.replace(PUBLIC_URL, stack.url)], { cwd: folder });
  const files = repositoryFiles().filter((path) => path.startsWith(`${name}/`) && !/\/(?:README\.md|\.[^/]*)$/.test(path));
  for (const path of files) {
    const content = await readFile(path, "utf8");
    expect(await readFile(join(folder, path), "utf8")).toBe(content.replaceAll("https://records.example", () => PUBLIC_URL));
  }
  expect((await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile())).toHaveLength(files.length);
  await rm(folder, { recursive: true });
});

it("what the console, the command line, the gateway and the description say of guides is there", async () => {
  const sources = repositoryFiles().filter((path) => /^(?:console\/web|clients\/cli|gateway|deploy\/embedded)\/.*\.tsx?$/.test(path));
  const named = sources.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/\/docs\/([a-z][a-z/-]*(?:#[\w-]+)?)(?![\w.])|<GuideLink to="([^"]*)"/g)].map(
      ([, page, guide]) => `/docs/${page ?? guide}`,
    ),
  );
  const description = (await read("/openapi/service.json")).text;
  expect(description.match(/https:\/\/records\.example\/docs.{9}/)).toBeNull();
  named.push(...linksIn("/", description.match(/https:\/\/api\.brand-records\.example[^\s"\\)]*\/docs\/[\w#-]+/g) ?? []));
  const wrong = [];
  for (const link of new Set(named)) {
    const [path = "", anchor] = link.split("#");
    const { status, text } = await read(path);
    if (status !== 200 || (anchor !== undefined && !attributes(text, "id").includes(anchor))) wrong.push(link);
  }
  expect(wrong).toEqual([]);
  expect(named).toEqual(expect.arrayContaining(["/docs/webhooks#verifying", "/docs/examples/relay", "/docs/errors#missing_key"]));
});

it("every code of an error is explained where the error says", async () => {
  const { text } = await read("/api/v1/campaigns");
  const { docs_url: docsUrl } = (JSON.parse(text) as { error: { docs_url: string } }).error;
  expect(docsUrl).toBe(`${PUBLIC_URL}/docs/errors#missing_key`);
  const document = (await (await fetch(`${stack.url}/openapi/service.json`)).json()) as {
    components: { schemas: { ErrorObject: { properties: { code: { "x-extensible-enum": string[] } } } } };
  };
  const ids = attributes((await read("/docs/errors")).text, "id");
  expect(ids).toEqual(expect.arrayContaining(document.components.schemas.ErrorObject.properties.code["x-extensible-enum"]));
});

it("an event reaches the program of the page, verified, with what the page alone shows", async () => {
  const markdown = (await read("/docs/webhooks.md")).text;
  const program = /^### Node\.js\n\n```js\n(.*?)^```$/ms.exec(markdown)?.[1] ?? "";
  const [start = "", send = ""] = [...(/^## Trying it\n(.*?)^## /ms.exec(markdown)?.[1] ?? "").matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = ""]) => block,
  );
  const folder = await mkdtemp(join(tmpdir(), "guide-"));
  await writeFile(join(folder, "receiver.mjs"), program);
  // A machine's port may be taken, and the second event is altered after it was signed.
  const altered = send.replace('-d "$body"', '-d "$body "');
  const script = `${start}trap 'kill $!' EXIT\nuntil curl -s http://127.0.0.1:8000/ > /dev/null; do :; done\n${send}${altered}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script.replaceAll("8000", String(await freePort()))], {
    cwd: folder,
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` },
  });
  await rm(folder, { recursive: true });
  expect([...stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(["204", "401"]);
});
