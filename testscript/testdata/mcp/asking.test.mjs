// The published client of the revision without sessions, at this service's own tools: its user is asked about calls
// that wait for approval.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const connect = async (token, answer) => {
  const client = new Client({ name: "test", version: "2" }, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } });
  const asked = [];
  client.setRequestHandler("elicitation/create", async (request) => {
    asked.push(request.params);
    return answer;
  });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL), { requestInit: { headers } }));
  return { client, asked };
};

const remove = { name: "run_command", arguments: { command: "rm -rf ./asked" } };

test("speaks the revision without sessions", async () => {
  const { client } = await connect(process.env.TOKEN);
  assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === "run_command"));
  const result = await client.callTool({ name: "run_command", arguments: { command: "uname -s" } });
  assert.equal(result.content[0].text, "Linux\n");
  await client.close();
});

for (const [name, answer, said] of [
  ["rejects", { action: "accept", content: { decision: "reject" } }, /rejected by/],
  ["declines", { action: "decline" }, /rejected by/],
  ["cancels", { action: "cancel" }, /waits for approval/],
]) {
  test(`a call is not made when the user ${name}`, async () => {
    const { client, asked } = await connect(process.env.TOKEN, answer);
    const result = await client.callTool(remove);
    assert.equal(asked.length, 1);
    assert.match(asked[0].message, /rm -rf \.\/asked/);
    assert.ok(result.isError, JSON.stringify(result));
    assert.match(result.content[0].text, said);
    assert.ok(existsSync("asked"));
    await client.close();
  });
}

test("who may not decide is told to wait, and asked a few times", async () => {
  const { client, asked } = await connect(process.env.USER_TOKEN, { action: "accept", content: { decision: "approve" } });
  const result = await client.callTool(remove);
  assert.equal(asked.length, 5);
  assert.match(asked[0].message, /An administrator has to decide/);
  assert.deepEqual(asked[0].requestedSchema.properties.decision.enum, ["wait"]);
  assert.ok(result.isError);
  assert.match(result.structuredContent.approval, /^call_[0-9a-f]{32}$/);
  assert.ok(existsSync("asked"));
  await client.close();
});

test("a call is made when the user approves", async () => {
  const { client, asked } = await connect(process.env.TOKEN, { action: "accept", content: { decision: "approve" } });
  const result = await client.callTool(remove);
  assert.equal(asked.length, 1);
  assert.ok(!result.isError, JSON.stringify(result));
  assert.ok(!existsSync("asked"));
  await client.close();
});
