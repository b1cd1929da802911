// The published client and test server of the Model Context Protocol, through all stages and without
// them. What the client sees is the same, but for secrets.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const secret = 'Hunter2!x';
const token = readFileSync(process.env.HOME + '/.svc/token', 'utf8').trim();
const within = { timeout: 60_000 }; // for what never comes
const ways = {
  http: { program: 'streamableHttp', path: '/mcp', site: process.env.SITE, upstream: process.env.UPSTREAM },
  sse: { program: 'sse', path: '/sse', site: process.env.SSE_SITE, upstream: process.env.SSE_UPSTREAM },
};
const through = (way) => new URL(`http://127.0.0.1:${way.site}${way.path}`);
const direct = (way) => new URL(`http://127.0.0.1:${way.upstream}${way.path}`);

const servers = [];
before(async () => {
  for (const way of Object.values(ways)) {
    const program = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
    const server = spawn(process.execPath, [program, way.program], { env: { PATH: process.env.PATH, PORT: way.upstream, DB_PASSWORD: secret }, stdio: ['ignore', 'ignore', 'pipe'] });
    servers.push(server);
    for await (const line of createInterface({ input: server.stderr })) {
      if (/listening on port|running on port/.test(line)) break;
    }
    server.stderr.resume();
  }
});
after(async () => {
  for (const server of servers) {
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  }
});

const requestInit = { headers: { Authorization: `Bearer ${token}` } };

/** Makes a client that answers what the server asks, and connects it. */
async function connect(way, url) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) => ({
    model: 'm', role: 'assistant', stopReason: 'endTurn', content: { type: 'text', text: 'sampled: ' + params.messages[0].content.text },
  }));
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Ada', check: true } }));
  const transport = way === ways.http
    ? new StreamableHTTPClientTransport(url, { requestInit })
    : new SSEClientTransport(url, { requestInit, eventSourceInit: { fetch: (to, init) => fetch(to, { ...init, headers: { ...init.headers, ...requestInit.headers } }) } });
  const errors = [];
  client.onerror = (error) => errors.push(error);
  await client.connect(transport);
  return { client, transport, errors };
}

/** The client drops reports that reach it together with the result: the last ones may be missing. */
function assertBegins(reports, all) {
  assert.ok(reports.length > 0);
  assert.deepEqual(reports, all.slice(0, reports.length));
}

/** All that a client does in a session. */
async function session(way, url) {
  const { client, transport } = await connect(way, url);
  const seen = { server: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions() };
  const call = async (name, args = {}, options) => client.callTool({ name, arguments: args }, CallToolResultSchema, options);
  seen.tools = await client.listTools();
  seen.prompts = await client.listPrompts();
  seen.templates = await client.listResourceTemplates();
  seen.resources = await client.listResources();
  seen.echo = await call('echo', { message: 'A token of esteem – 🙂 – {"session_id":"1868a90c-7d11-4b6a-9a0e-2f6f6d4a6f10"}' });
  seen.sum = await call('get-sum', { a: 2, b: 3.5 });
  seen.image = await call('get-tiny-image');
  seen.structured = await call('get-structured-content', { location: 'Chicago' });
  seen.annotated = await call('get-annotated-message', { messageType: 'error', includeImage: true });
  const progress = [];
  seen.long = await call('trigger-long-running-operation', { duration: 0.4, steps: 4 }, { onprogress: (p) => progress.push(p) });
  assertBegins(progress, [1, 2, 3, 4].map((n) => ({ progress: n, total: 4 })));
  seen.sampling = await call('trigger-sampling-request', { prompt: 'Say hello', maxTokens: 10 });
  seen.elicitation = await call('trigger-elicitation-request');
  seen.missing = await call('no-such-tool').catch((error) => ({ code: error.code, message: error.message }));
  await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
  await client.setLoggingLevel('debug');
  const logged = new Promise((resolve) => client.setNotificationHandler(LoggingMessageNotificationSchema, resolve));
  await call('toggle-simulated-logging');
  seen.logged = (await logged).method; // over the stream that GET opened
  await call('toggle-simulated-logging');
  const env = await call('get-env');
  if (way === ways.http) await transport.terminateSession();
  await client.close();
  return { seen, env: env.content[0].text };
}

for (const [name, way] of Object.entries(ways)) {
  test(`${name}: a session is what it is without the stages`, within, async () => {
    const plain = await session(way, direct(way));
    const staged = await session(way, through(way));
    assert.deepEqual(staged.seen, plain.seen);
    assert.equal(JSON.parse(plain.env).DB_PASSWORD, secret);
    assert.deepEqual(JSON.parse(staged.env), { ...JSON.parse(plain.env), DB_PASSWORD: 'REDACTED' });
  });
}

test('http: what a broken stream missed comes with Last-Event-ID', within, async () => {
  const { client, transport } = await connect(ways.http, through(ways.http));
  const ids = [];
  const progress = [];
  const result = await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } }, CallToolResultSchema, {
    onprogress: (p) => progress.push(p),
    onresumptiontoken: (id) => ids.push(id),
  });
  assertBegins(progress, [1, 2, 3].map((n) => ({ progress: n, total: 3 })));
  assert.match(result.content[0].text, /completed/);
  const resumed = await fetch(through(ways.http), {
    headers: { ...requestInit.headers, Accept: 'text/event-stream', 'Mcp-Session-Id': transport.sessionId, 'Mcp-Protocol-Version': '2025-06-18', 'Last-Event-ID': ids[0] },
    signal: AbortSignal.timeout(30_000),
  });
  assert.equal(resumed.status, 200);
  let text = '';
  for await (const piece of resumed.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('completed')) break;
  }
  assert.match(text, /"progress":3/);
  await client.close();
});

test('http: a session that was deleted is gone', within, async () => {
  const { client, transport } = await connect(ways.http, through(ways.http));
  const id = transport.sessionId;
  assert.match(id, /^[0-9a-f-]{36}$/);
  await transport.terminateSession();
  assert.equal(transport.sessionId, undefined);
  const late = await fetch(through(ways.http), {
    method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    headers: { ...requestInit.headers, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', 'Mcp-Session-Id': id },
  });
  assert.ok(late.status === 400 || late.status === 404, `status ${late.status}`);
  await client.close();
});
