// The published client 1.15.0 on the thread-centric protocol: over server-sent events and over a WebSocket.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { after, test } from 'node:test';

import { Client } from '@langchain/langgraph-sdk';
import { WebSocket } from 'ws';

const within = { timeout: 120_000 };
const question = 'How long is this host up?';
const ask = (content) => ({ messages: [{ role: 'user', content }] });

// A wire that can be cut.
const wires = new Set();
const wire = createServer((near) => {
  const far = connect(Number(process.env.SITE), '127.0.0.1');
  for (const [one, other] of [[near, far], [far, near]]) {
    wires.add(one);
    one.on('error', () => {});
    one.on('close', () => { wires.delete(one); other.destroy(); });
    one.pipe(other);
  }
});
wire.listen(0, '127.0.0.1');
await once(wire, 'listening');
const cut = () => { for (const socket of wires) socket.destroy(); };
after(() => { wire.close(); cut(); });
const apiUrl = `http://127.0.0.1:${wire.address().port}`;

/** Opens the stream of a thread, of a new one if none is named. */
function open(transport, token, threadId, assistantId = 'core') {
  // The client refuses to send headers with a WebSocket by itself.
  const headers = { Authorization: `Bearer ${token}` };
  const client = new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0 }, defaultHeaders: transport === 'sse' ? headers : {} });
  const options = { assistantId, transport, webSocketFactory: (url) => new WebSocket(url, { headers }) };
  return threadId ? client.threads.stream(threadId, options) : client.threads.stream(options);
}

/** The events of a subscription up to the end of the present run. */
async function collect(subscription) {
  const events = [];
  for (;;) {
    const { value, done } = await subscription.next();
    if (done) return events;
    events.push(value);
    const { method, params } = value;
    if (method === 'lifecycle' && params.namespace.length === 0 && ['completed', 'failed', 'interrupted'].includes(params.data.event)) return events;
  }
}

const lifecycle = (events) => events.filter(({ method, params }) => method === 'lifecycle' && !params.namespace.length).map(({ params }) => params.data.event);
const values = (events) => events.filter(({ method }) => method === 'values').map(({ params }) => params.data);
const kinds = ({ messages }) => messages.map(({ type }) => type);

for (const transport of ['sse', 'websocket']) {
  test(`${transport}: a chat with a call, and another run on the same stream`, within, async (t) => {
    const thread = open(transport, process.env.TOKEN);
    t.after(() => thread.close());
    const spoken = (async () => {
      const texts = [];
      for await (const message of thread.messages) texts.push(await message.text);
      return texts;
    })();
    const called = (async () => {
      const calls = [];
      // The client tells of each call when it starts and again when it ends.
      for await (const call of thread.toolCalls) calls.push(`${call.callId} ${call.name} ${typeof (await call.output)}`);
      return [...new Set(calls)];
    })();
    assert.match((await thread.run.start({ input: ask(question) })).run_id, /^[0-9a-f-]{36}$/);
    const output = await thread.output;
    assert.equal(output.messages.length, 4);
    assert.match(output.messages.at(-1).content, /^This host has been up /);
    assert.equal((await spoken).at(-1), output.messages.at(-1).content, 'the pieces are the message');
    assert.equal((await called).length, 1);
    assert.match((await called)[0], / run_command string$/);

    const events = (await thread.subscribe({ channels: ['lifecycle', 'values', 'messages'] }))[Symbol.asyncIterator]();
    assert.equal(kinds(values(await collect(events)).at(-1)).join(' '), 'human ai tool ai', 'what has just ended is told again');
    const last = thread.ordering.lastSeenSeq;
    await thread.run.start({ input: ask('And the memory?') });
    const second = await collect(events);
    assert.deepEqual(lifecycle(second), ['running', 'completed']);
    assert.ok(second.every(({ seq }) => seq > last), 'numbers increase from run to run');
    assert.ok(values(second).at(-1).messages.length > 4);
    assert.equal((await thread.state.get({ namespace: [] })).values.messages.length, values(second).at(-1).messages.length);
    assert.ok((await thread.state.listCheckpoints({ namespace: [], limit: 3 })).checkpoints.length === 3);
    assert.equal((await thread.agent.getTree()).tree.status, 'completed');
  });

  test(`${transport}: a call is approved`, within, async (t) => {
    const folder = `${process.env.PROJECT}/${transport}`;
    mkdirSync(folder, { recursive: true });
    const thread = open(transport, process.env.ADMIN);
    t.after(() => thread.close());
    await thread.run.start({ input: ask(`delete the folder ${transport}`) });
    const events = (await thread.subscribe({ channels: ['lifecycle', 'input', 'tools', 'values'] }))[Symbol.asyncIterator]();
    assert.deepEqual(lifecycle(await collect(events)), ['running', 'interrupted']);
    assert.ok(thread.interrupted);
    const [{ interruptId, payload, namespace }] = thread.interrupts;
    assert.equal(payload.action_requests[0].name, 'run_command');
    assert.ok(existsSync(folder));
    await assert.rejects(thread.input.respond({ namespace, interrupt_id: 'none', response: true }), { code: 'no_such_interrupt' });
    await assert.rejects(thread.run.start({ input: ask('hello') }), { code: 'thread_busy' });
    for (const more of [{ update: { messages: [] } }, { goto: 'agent' }]) {
      await assert.rejects(thread.input.respond({ namespace, interrupt_id: interruptId, response: true, ...more }), { code: 'not_supported' });
    }
    await thread.input.respond({ namespace, interrupt_id: interruptId, response: { decisions: [{ type: 'approve' }] } });
    const rest = await collect(events);
    assert.deepEqual(lifecycle(rest), ['running', 'completed']);
    assert.deepEqual(rest.filter(({ method }) => method === 'input.answered').map(({ params }) => params.data.interrupt_ids), [[interruptId]]);
    assert.deepEqual(rest.filter(({ method }) => method === 'tools').map(({ params }) => params.data.event), ['tool-started', 'tool-finished']);
    assert.equal(kinds(values(rest).at(-1)).join(' '), 'human ai tool ai');
    assert.ok(!existsSync(folder));
  });

  test(`${transport}: a sub-agent in the thread's events`, within, async (t) => {
    const thread = open(transport, process.env.TOKEN, undefined, 'agent');
    t.after(() => thread.close());
    await thread.run.start({ input: ask('Tell me about yourself') });
    const events = (await thread.subscribe({ channels: ['lifecycle', 'values', 'messages', 'tools'] }))[Symbol.asyncIterator]();
    await collect(events);
    await thread.run.start({ input: ask(question) });
    const told = await collect(events);
    const below = () => told.filter(({ params }) => params.namespace[0]?.startsWith('tools:'));
    const top = () => values(told.filter(({ params }) => !params.namespace.length)).at(-1);
    const sub = below().sort((a, b) => a.seq - b.seq);
    const [first] = sub;
    assert.deepEqual([first.method, first.params.data.event], ['lifecycle', 'started']);
    assert.deepEqual(first.params.data.cause, { type: 'toolCall', tool_call_id: first.params.namespace[0].slice('tools:'.length) });
    assert.ok(sub.some(({ method, params }) => method === 'lifecycle' && params.data.event === 'completed' && params.namespace.length === 1));
    assert.deepEqual(lifecycle(told), ['running', 'completed']);
    assert.ok(sub.some(({ method }) => method === 'messages') && sub.some(({ method }) => method === 'tools'), 'what it says, and what it calls');
    assert.equal(kinds(top()).slice(-4).join(' '), 'human ai tool ai', 'what the sub-agent said is its own');
  });

  test(`${transport}: the connection is cut`, within, async (t) => {
    const thread = open(transport, process.env.TOKEN);
    t.after(() => thread.close());
    await thread.run.start({ input: ask(question) });
    const events = (await thread.subscribe({ channels: ['lifecycle', 'values'] }))[Symbol.asyncIterator]();
    const before = await collect(events);
    cut();
    const again = () => thread.run.start({ input: ask('And the memory?') });
    await again().catch(again); // it may be sent on what was cut
    const later = await collect(events);
    assert.deepEqual(lifecycle(later).slice(0, 1), ['running']);
    const seen = [...before, ...later].map(({ event_id }) => event_id);
    assert.equal(new Set(seen).size, seen.length, 'nothing comes twice');
    assert.ok(later.at(-1).seq > before.at(-1).seq);
  });

  test(`${transport}: the thread of somebody else`, within, async (t) => {
    const mine = open('sse', process.env.ADMIN);
    t.after(() => mine.close());
    await mine.run.start({ input: ask(question) });
    const theirs = open(transport, process.env.TOKEN, mine.threadId);
    t.after(() => theirs.close());
    const failed = new Promise((resolve) => { theirs.onError(resolve); });
    const refused = await theirs.run.start({ input: ask('hello') }).then(() => null, (e) => (transport === 'sse' ? e : failed));
    assert.ok(refused, 'it is refused');
    assert.match(String(refused.message) + refused.status, /404/);
  });
}
