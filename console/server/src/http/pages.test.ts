import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { FIRST_READS_PLACEHOLDER, pagesFrom } from "./page-html.ts";
import { servePage } from "./pages.ts";

/** One promise: what the server puts into a page is data to a browser, whatever people have written into it. */

const HOSTILE = `</script><script>alert("$&")</script><!-- $' \u2028`;

const READ = /<script type="application\/json" id="first-reads">([^<]*)<\/script>/;

async function pageWith(reads: readonly { name: string; input: unknown; output: unknown }[]): Promise<string> {
  const app = express();
  const html = `<!doctype html><div nonce="__CSP_NONCE__"></div>${FIRST_READS_PLACEHOLDER}`;
  app.use(servePage({ pageAt: () => html, assets: new Map() }, { of: () => Promise.resolve(reads) }));
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text();
  } finally {
    server.close();
  }
}

it("escapes what could end the data or begin a script, and keeps every character", async () => {
  const reads = [{ name: "keys.list", input: { brand_id: "brd_1" }, output: { keys: [{ name: HOSTILE }] } }];
  const html = await pageWith(reads);
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(JSON.parse(READ.exec(html)?.[1] ?? "")).toEqual(reads);
});

it("has no element for reads that are none", async () => {
  expect(await pageWith([])).not.toContain("<script");
});

it("names a screen's files that the built page does not name, and lets no style sheet come before the frame", () => {
  const built =
    '<link rel="icon" href="/console/assets/i.svg"><link rel="stylesheet" href="/console/assets/app.css"><!--preloads--><script src="/console/assets/app.js"></script><!--frame--><!--styles--><div id="root"></div>';
  const screen = { file: "assets/screen.js", imports: ["_app.js", "_parts.js"], css: ["assets/screen.css"] };
  const shared = { "_app.js": { file: "assets/app.js", css: ["assets/app.css"] }, "_parts.js": { file: "assets/parts.js" } };
  const manifest = new Proxy(shared, { get: (chunks, name) => Reflect.get(chunks, name) ?? screen });
  const { keys, other } = pagesFrom(built, manifest);
  expect([...keys.matchAll(/(?:href|src)="\/console\/assets\/([^"]+)"/g)].map(([, file]) => file)).toEqual([
    "i.svg",
    "parts.js",
    "screen.js",
    "app.js",
    // In the frame.
    "i.svg",
    "app.css",
    "screen.css",
  ]);
  expect(keys.indexOf("<h1>API keys</h1>")).toBeLessThan(keys.indexOf("stylesheet"));
  expect(other).not.toContain("<h1>");
  expect(() => pagesFrom(built, {})).toThrow("the build has no");
});
