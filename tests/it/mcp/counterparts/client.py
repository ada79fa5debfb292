"""A client of the official SDK for Python. It prints what it saw, as one line of JSON.

client.py MODE stdio COMMAND ARGUMENT...
client.py MODE http URL TOKEN
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def server(words):
    if words[0] == "stdio":
        return StdioServerParameters(command=words[1], args=words[2:])
    headers = {"Authorization": f"Bearer {words[2]}"}
    return streamable_http_client(words[1], http_client=create_mcp_http_client(headers=headers))


async def main():
    mode, *words = sys.argv[1:]
    async with Client(server(words), mode=mode, read_timeout_seconds=60) as client:
        tools = (await client.list_tools()).tools
        check = await client.call_tool("check_permission", {"permissions": ["@network", "@events"]})
        asked = {"permissions": ["@network"], "reason": "to read the docs"}
        request = await client.call_tool("request_permission", asked)
        request_id = request.structured_content["request_id"]
        waiting = await client.call_tool("await_permission", {"request_id": request_id})
        wrong = await client.call_tool("await_permission", {"request_id": "nothing"})
        resources = (await client.list_resources()).resources
        read = await client.read_resource("bestow://requests")
        seen = {
            "version": client.session.protocol_version,
            "tools": [tool.name for tool in tools],
            "check": check.structured_content,
            "request": request.structured_content,
            "waiting": waiting.structured_content,
            "wrong": [wrong.is_error, wrong.content[0].text],
            "resources": [str(resource.uri) for resource in resources],
            "read": json.loads(read.contents[0].text),
        }
    print(json.dumps(seen))


asyncio.run(main())
