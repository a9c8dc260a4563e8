/** What takes the place of the service's address and of a key in an example. */
export interface Place {
  /** URL without a trailing slash. */
  readonly url: string;
  readonly key: string;
}

export interface Example {
  /** What to do with the text. */
  readonly instruction: string;
  code(place: Place): string;
}

export interface Client {
  /** Name in the page's URL. */
  readonly id: string;
  readonly name: string;
  /** Name on the tab, if `name` is too long for it. */
  readonly tab?: string;
  readonly examples: readonly Example[];
  /** The examples take the address and the key from the environment. */
  readonly isProgram?: boolean;
  readonly note?: string;
}

/**
 * How each assistant connects: the sections under "Clients" of docs/assistants.md, in the same order. clients.test.ts compares
 * names and examples with that page.
 */
export const CLIENTS = [
  {
    id: "claude-code",
    name: "Claude Code",
    examples: [
      {
        instruction: "Run this in a terminal:",
        code: ({ url, key }) => `claude mcp add --transport http brand-records "${url}/api/mcp" --header "Authorization: Bearer ${key}"`,
      },
      {
        instruction: "For a team, put this into .mcp.json in the project. Each member sets BRAND_RECORDS_KEY to a key:",
        code: ({ url }) => `{
  "mcpServers": {
    "brand-records": {
      "type": "http",
      "url": "${url}/api/mcp",
      "headers": { "Authorization": "Bearer \${BRAND_RECORDS_KEY}" }
    }
  }
}`,
      },
    ],
  },
  {
    id: "vscode",
    name: "VS Code",
    examples: [
      {
        instruction: "Put this into .vscode/mcp.json. VS Code asks for the key once and keeps it in its secret store:",
        code: ({ url }) => `{
  "inputs": [{ "id": "brand-records-key", "type": "promptString", "description": "Brand Records API key", "password": true }],
  "servers": {
    "brand-records": {
      "type": "http",
      "url": "${url}/api/mcp",
      "headers": { "Authorization": "Bearer \${input:brand-records-key}" }
    }
  }
}`,
      },
    ],
  },
  {
    id: "cursor",
    name: "Cursor",
    examples: [
      {
        instruction: "Put this into .cursor/mcp.json in the project, or into ~/.cursor/mcp.json, and set BRAND_RECORDS_KEY to a key:",
        code: ({ url }) => `{
  "mcpServers": {
    "brand-records": {
      "url": "${url}/api/mcp",
      "headers": { "Authorization": "Bearer \${env:BRAND_RECORDS_KEY}" }
    }
  }
}`,
      },
    ],
  },
  {
    id: "inspector",
    name: "MCP Inspector",
    examples: [
      {
        instruction: "To see what an assistant sees, run this with Node 22.19 or newer:",
        code: ({ url, key }) => `npx @modelcontextprotocol/inspector@2 --cli --transport http --server-url "${url}/api/mcp" \\
  --header "Authorization: Bearer ${key}" --method tools/call --tool-name list_links --tool-arg limit=2`,
      },
    ],
  },
  {
    id: "typescript",
    name: "TypeScript and JavaScript",
    tab: "TypeScript",
    isProgram: true,
    examples: [
      {
        instruction: "Run npm install @modelcontextprotocol/client, save this as paid.mjs, and run node paid.mjs:",
        code: () => `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const client = new Client({ name: "report", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(
  new StreamableHTTPClientTransport(new URL(\`\${process.env.BRAND_RECORDS_URL}/api/mcp\`), {
    requestInit: { headers: { Authorization: \`Bearer \${process.env.BRAND_RECORDS_KEY}\` } },
  }),
);

let cursor;
let paid = 0;
do {
  const {
    structuredContent: page,
    isError,
    content,
  } = await client.callTool({
    name: "list_payouts",
    arguments: { limit: 100, ...(cursor && { cursor }) },
  });
  if (isError) throw new Error(content[0].text);
  for (const payout of page.data) if (payout.status === "paid") paid += payout.amount_centavos;
  cursor = page.next_cursor;
} while (cursor);
console.log(\`Paid to creators: PHP \${(paid / 100).toFixed(2)}\`);
await client.close();`,
      },
    ],
  },
  {
    id: "python",
    name: "Python",
    isProgram: true,
    examples: [
      {
        instruction: "Run pip install mcp (2.x), then this program:",
        code: () => `import asyncio, os
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {"Authorization": f"Bearer {os.environ['BRAND_RECORDS_KEY']}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"{os.environ['BRAND_RECORDS_URL']}/api/mcp", http_client=http)
        async with Client(transport) as client:
            result = await client.call_tool("list_campaigns", {"limit": 5})
            for campaign in result.structured_content["data"]:
                print(campaign["status"], campaign["title"])

asyncio.run(main())`,
      },
    ],
  },
  {
    id: "curl",
    name: "curl",
    examples: [
      {
        instruction: "One call, as assistants make it:",
        code: ({ url, key }) => `curl -sS "${url}/api/mcp" -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": { "name": "list_campaigns", "arguments": { "limit": 1 } }
}'`,
      },
      {
        instruction: "The same call in the protocol’s newer generation:",
        code: ({ url, key }) => `curl -sS "${url}/api/mcp" -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\
  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: list_campaigns' -d '{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": {
    "name": "list_campaigns", "arguments": { "limit": 1 },
    "_meta": {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  }
}'`,
      },
    ],
  },
  {
    id: "others",
    name: "Clients without a setting for headers",
    tab: "Others",
    examples: [
      {
        instruction: "Clients that only start local programs, such as Claude Desktop, connect through a bridge. Give them this command:",
        code: ({ url, key }) => `npx mcp-remote ${url}/api/mcp --header "Authorization: Bearer ${key}"`,
      },
    ],
    note: "Clients that can only sign in with OAuth cannot connect: the service has no consent page, only keys.",
  },
] as const satisfies readonly Client[];

export const isClient = (id: string | undefined): id is string => CLIENTS.some((client) => client.id === id);

/** The environment of the examples that are programs. */
export const environmentOf = ({ url, key }: Place): string => `export BRAND_RECORDS_URL=${url}\nexport BRAND_RECORDS_KEY=${key}`;
