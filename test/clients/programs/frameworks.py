# What a brand's program does with a framework for assistants. Prints what the framework shows of it, as JSON.
import asyncio
import json
import os
import sys

URL = os.environ["MCP_URL"]
HEADERS = {"Authorization": f"Bearer {os.environ['KEY']}"}


async def talk(tools, call):
    """`call` returns what a tool's result holds."""
    whole = await call("list_links", {"limit": 3})
    pages = []
    cursor = {}
    while not pages or cursor:
        pages.append(await call("list_links", {"limit": 3, "fields": ["clicks", "status"], **cursor}))
        cursor = {"cursor": pages[-1]["next_cursor"]} if "next_cursor" in pages[-1] else {}
    plan = await call("prepare_campaign_plan", json.loads(os.environ["PLAN"]))
    print(json.dumps({"tools": tools, "whole": whole, "pages": pages, "plan": plan}))


def both(texts, structured):
    """A framework hands over one or the other: they are the same."""
    assert json.loads("".join(texts)) == structured
    return structured


async def mcp_1():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(URL, headers=HEADERS) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()

        async def call(name, arguments):
            result = await session.call_tool(name, arguments)
            return both([block.text for block in result.content], result.structuredContent)

        await talk([tool.name for tool in (await session.list_tools()).tools], call)


async def mcp_2():
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with httpx2.AsyncClient(headers=HEADERS) as http, Client(streamable_http_client(URL, http_client=http)) as client:

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            return both([block.text for block in result.content], result.structured_content)

        await talk([tool.name for tool in (await client.list_tools()).tools], call)


async def fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    async with Client(StreamableHttpTransport(URL, headers=HEADERS)) as client:

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            return both([block.text for block in result.content], result.structured_content)

        await talk([tool.name for tool in await client.list_tools()], call)


async def langchain():
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    client = MultiServerMCPClient({"records": {"transport": "streamable_http", "url": URL, "headers": HEADERS}})
    # Tools of `client.get_tools()` would connect anew for each call.
    async with client.session("records") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}

        async def call(name, arguments):
            message = await tools[name].ainvoke({"type": "tool_call", "id": "1", "name": name, "args": arguments})
            assert message.status == "success", message
            return both([block["text"] for block in message.content], message.artifact["structured_content"])

        await talk(list(tools), call)


async def pydantic_ai():
    from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.function import FunctionModel

    asked = {}

    def model(messages, info):
        asked["tools"] = [tool.name for tool in info.function_tools]
        [*_, last] = messages[-1].parts
        if isinstance(last, ToolReturnPart):
            asked["content"] = last.content
        return ModelResponse([TextPart("Done.")] if isinstance(last, ToolReturnPart) or "call" not in asked else [ToolCallPart(*asked["call"])])

    # Without it, each run of the agent would connect anew.
    async with Agent(FunctionModel(model), toolsets=[MCPToolset(URL, headers=HEADERS)]) as agent:
        await agent.run("Which tools are there?")

        async def call(*of):
            asked["call"] = of
            await agent.run("Call it.")
            return asked.pop("content")

        await talk(asked["tools"], call)


asyncio.run(globals()[sys.argv[1]]())
