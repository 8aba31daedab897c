"""The official Python SDK as a client: it lists the tools, runs a program over the earthquakes, and approves a call.

    python client.py COMMAND [ARGUMENT…]    starts the server and speaks over standard input and output
    python client.py http://…               speaks to a server over HTTP
"""

import asyncio
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters

STRONGEST = {
    "op": "pipe",
    "steps": [
        {"op": "load", "name": "quakes"},
        {"op": "filter", "where": {"op": "eq", "field": "type", "value": "earthquake"}},
        {"op": "sort_by", "field": "mag", "order": "desc"},
        {"op": "take", "count": 3},
    ],
}

ALERT = {
    "op": "pipe",
    "steps": [
        STRONGEST,
        {
            "op": "map",
            "expr": {
                "op": "call",
                "tool": "alert",
                "args": {"place": {"op": "get", "field": "place"}, "magnitude": {"op": "get", "field": "mag"}},
            },
        },
    ],
}


async def approve(context, params):
    print("The server asks:\n  " + params.message.replace("\n", "\n  "))
    print("A person approves.")
    return types.ElicitResult(action="accept", content={"decision": "approve"})


async def conversation(server, mode):
    async with Client(server, mode=mode, elicitation_callback=approve) as client:
        print(f"-- protocol {client.protocol_version}")
        tools = (await client.list_tools()).tools
        print("Tools: " + ", ".join(tool.name for tool in tools))

        found = await client.call_tool("search_tools", {"query": "tell people"})
        assert found.structured_content["value"][0]["name"] == "alert", found

        steps = STRONGEST["steps"] + [{"op": "select", "fields": ["mag", "place"]}]
        result = await client.call_tool("run_program", {"program": {"op": "pipe", "steps": steps}})
        print("The strongest: " + result.content[0].text)
        assert len(result.structured_content["value"]) == 3

        wrong = await client.call_tool("run_program", {"program": {"op": "fliter"}})
        assert wrong.is_error
        print("An error for the model: " + wrong.content[0].text)

        told = await client.call_tool("run_program", {"program": ALERT})
        if "state" in (told.structured_content or {}):
            # HTTP before 2026-07-28 has no way to ask in this server: the sealed text is an argument.
            arguments = {"state": told.structured_content["state"], "decision": "approve"}
            told = await client.call_tool("run_program", arguments)
        print("The alerts: " + told.content[0].text)
        assert told.structured_content["calls"] == {"alert": 3}, told


async def main():
    arguments = sys.argv[1:]
    if arguments[0].startswith("http"):
        server = arguments[0]
    else:
        import os

        server = StdioServerParameters(command=arguments[0], args=arguments[1:], env=dict(os.environ))
    for mode in ("auto", "legacy"):
        await conversation(server, mode)


asyncio.run(main())
