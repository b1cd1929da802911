// The published client of the Model Context Protocol, at this service's own tools.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const connect = async (token) => {
  const client = new Client({ name: "test", version: "1" });
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL), { requestInit: { headers } }));
  return client;
};

test("lists tools and calls one", async () => {
  const client = await connect(process.env.TOKEN);
  const { tools } = await client.listTools();
  const names = tools.map((t) => t.name);
  assert.deepEqual(names, [...names].sort());
  assert.ok(names.includes("run_command") && names.includes("read_file"));
  const result = await client.callTool({ name: "run_command", arguments: { command: "uname -s" } });
  assert.equal(result.content[0].text, "Linux\n");
  assert.ok(!result.isError);
  await client.close();
});

test("a call that waits for approval is an error with the approval", async () => {
  const client = await connect(process.env.TOKEN);
  const result = await client.callTool({ name: "run_command", arguments: { command: "rm -rf ./build" } });
  assert.ok(result.isError);
  assert.match(result.structuredContent.approval, /^call_[0-9a-f]{32}$/);
  console.log(`approval ${result.structuredContent.approval}`);
  await client.close();
});

test("nobody is served without a token", async () => {
  await assert.rejects(connect(""), /401|[Uu]nauthorized/);
});
