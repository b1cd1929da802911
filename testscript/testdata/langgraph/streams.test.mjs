// Streams of the service, as the published clients see them.

import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';

import { RemoteGraph } from '@langchain/langgraph/remote';

import { ask, client, collect, lines, of, refused, text, until, url, within } from './service.mjs';

const question = 'How long has this host been up?';

for (const [line, Client] of Object.entries(lines)) {
  const c = client(Client);

  test(`${line}: values and updates tell of every step`, within, async () => {
    const { thread_id } = await c.threads.create();
    const seen = {};
    const events = await collect(c.runs.stream(thread_id, 'core', {
      input: ask(question), streamMode: ['values', 'updates'], onRunCreated: (run) => Object.assign(seen, run),
    }));
    assert.deepEqual(events.map(({ event }) => event), ['metadata', 'values', 'updates', 'values', 'updates', 'values', 'updates', 'values', 'end']);
    assert.equal(events[0].data.run_id, seen.run_id);
    assert.equal(seen.thread_id, thread_id);
    const values = of(events, 'values');
    assert.deepEqual(values.map(({ messages }) => messages.map(({ type }) => type).join(' ')), ['human', 'human ai', 'human ai tool', 'human ai tool ai']);
    assert.deepEqual(of(events, 'updates').map((u) => Object.keys(u)).flat(), ['agent', 'tools', 'agent']);
    const [, asked, result, answer] = values.at(-1).messages;
    assert.equal(asked.tool_calls[0].name, 'run_command');
    assert.equal(result.tool_call_id, asked.tool_calls[0].id);
    assert.equal(result.status, 'success');
    assert.match(answer.content, /^This host has been up /);
    assert.ok(values.at(-1).messages.every(({ id }) => id));
    const state = await c.threads.getState(thread_id);
    assert.deepEqual(state.values, values.at(-1));
    assert.deepEqual(state.next, []);
    assert.equal((await c.threads.get(thread_id)).status, 'idle');
    assert.equal((await c.runs.get(thread_id, seen.run_id)).status, 'success');
  });

  test(`${line}: pieces of messages are the messages`, within, async () => {
    const { thread_id } = await c.threads.create();
    const events = await collect(c.runs.stream(thread_id, 'core', { input: ask(question), streamMode: ['messages-tuple', 'values'] }));
    const said = {};
    for (const [piece, metadata] of of(events, 'messages')) {
      assert.equal(metadata.thread_id, thread_id);
      assert.equal(metadata.langgraph_node, piece.type === 'tool' ? 'tools' : 'agent');
      said[piece.id] = (said[piece.id] ?? '') + piece.content;
    }
    const whole = of(events, 'values').at(-1).messages.filter(({ type }) => type !== 'human');
    assert.deepEqual(said, Object.fromEntries(whole.map(({ id, content }) => [id, content])));
    assert.deepEqual(of(events, 'messages').map(([{ tool_calls }]) => tool_calls ?? []).flat().map(({ name }) => name), ['run_command']);
  });

  test(`${line}: messages that grow`, within, async () => {
    const events = await collect(c.runs.stream(null, 'core', { input: ask(question), streamMode: 'messages' }));
    const complete = of(events, 'messages/complete').map(([m]) => m);
    assert.deepEqual(complete.map(({ type }) => type), ['human', 'ai', 'tool', 'ai']);
    const grown = of(events, 'messages/partial').map(([m]) => m).filter(({ id }) => id === complete.at(-1).id);
    assert.ok(grown.length > 2);
    for (const [i, m] of grown.entries()) assert.ok(complete.at(-1).content.startsWith(m.content) && (!i || m.content.length >= grown[i - 1].content.length));
    assert.equal(Object.keys(Object.assign({}, ...of(events, 'messages/metadata'))).length, 2);
  });

  test(`${line}: every mode at once, in order`, within, async () => {
    const { thread_id } = await c.threads.create();
    const streamMode = ['values', 'updates', 'messages-tuple', 'custom', 'events', 'debug', 'tasks', 'checkpoints'];
    const events = await collect(c.runs.stream(thread_id, 'core', { input: ask(question), streamMode }));
    const kinds = new Set(events.map(({ event }) => event));
    for (const kind of ['values', 'updates', 'messages', 'custom', 'events', 'debug', 'tasks', 'checkpoints']) assert.ok(kinds.has(kind), kind);
    assert.deepEqual(of(events, 'tasks').map(({ name, result }) => `${name} ${result ? 'ends' : 'starts'}`),
      ['agent starts', 'agent ends', 'tools starts', 'tools ends', 'agent starts', 'agent ends']);
    assert.deepEqual(of(events, 'checkpoints').map(({ metadata, next }) => [metadata.source, metadata.step, next[0]]),
      [['input', -1, '__start__'], ['loop', 0, 'agent'], ['loop', 1, 'tools'], ['loop', 2, 'agent'], ['loop', 3, undefined]]);
    assert.deepEqual(of(events, 'debug').map(({ type, step }) => `${type} ${step}`), ['checkpoint -1', 'checkpoint 0', 'task 1', 'task_result 1',
      'checkpoint 1', 'task 2', 'task_result 2', 'checkpoint 2', 'task 3', 'task_result 3', 'checkpoint 3']);
    const history = await c.threads.getHistory(thread_id, { limit: 10 });
    assert.deepEqual(history.map(({ checkpoint }) => checkpoint.checkpoint_id).reverse(),
      of(events, 'checkpoints').map(({ config }) => config.configurable.checkpoint_id), 'the same checkpoints before and after the end');
    const ids = events.map(({ id }) => Number(id));
    assert.ok(ids.every((id, i) => !i || id > ids[i - 1]));
    assert.equal(ids[0], 0);
    // The same ids, whatever is asked for.
    const [run] = await c.runs.list(thread_id);
    const joined = await collect(c.runs.joinStream(thread_id, run.run_id, { lastEventId: '-1', streamMode: ['updates'] }));
    assert.deepEqual(joined.map(({ event, id }) => `${event} ${id}`),
      events.filter(({ event }) => ['metadata', 'updates', 'end'].includes(event)).map(({ event, id }) => `${event} ${id}`));
  });

  test(`${line}: sub-agents are subgraphs`, within, async () => {
    const events = await collect(c.runs.stream(null, 'agent', { input: ask(question), streamMode: ['updates', 'values'], streamSubgraphs: true }));
    const inner = events.filter(({ event }) => /^updates\|tools:call_[0-9a-f]+$/.test(event));
    assert.deepEqual(inner.map(({ data }) => Object.keys(data)[0]), ['agent', 'tools', 'agent']);
    assert.deepEqual(of(events, 'updates').map((u) => Object.keys(u)[0]), ['agent', 'tools', 'agent']);
    const plain = await collect(c.runs.stream(null, 'agent', { input: ask(question), streamMode: ['updates'] }));
    assert.ok(plain.every(({ event }) => !event.includes('|')));
  });

  test(`${line}: waiting, joining, batches`, within, async () => {
    const { thread_id } = await c.threads.create();
    const waited = await c.runs.wait(thread_id, 'core', { input: ask(question) });
    assert.match(waited.messages.at(-1).content, /^This host has been up /);
    const run = await c.runs.create(thread_id, 'core', { input: ask('and the memory?') });
    assert.equal(run.thread_id, thread_id);
    await c.runs.join(thread_id, run.run_id);
    assert.equal((await c.runs.get(thread_id, run.run_id)).status, 'success');
    assert.equal((await c.runs.list(thread_id)).length, 2);
    assert.match(text((await c.runs.wait(null, 'core', { input: ask(question) })).messages), /This host has been up /);
    const batch = await c.runs.createBatch([{ assistantId: 'core', input: ask(question) }, { assistantId: 'quick', input: ask('x') }]);
    assert.equal(batch.length, 2);
    await Promise.all(batch.map(({ thread_id, run_id }) => until(async () => (await c.runs.get(thread_id, run_id)).status === 'success')));
    await c.runs.delete(thread_id, run.run_id);
    assert.equal((await refused(c.runs.get(thread_id, run.run_id))).status, 404);
  });

  test(`${line}: a stream that is cut goes on where it was`, within, async () => {
    const { thread_id } = await c.threads.create();
    const options = { input: ask(question), streamMode: ['messages-tuple', 'values', 'updates'] };
    const whole = await collect(c.runs.stream(thread_id, 'core', options));
    const [run] = await c.runs.list(thread_id);
    for (const cut of [0, 3, whole.length - 2]) {
      const rest = await collect(c.runs.joinStream(thread_id, run.run_id, { lastEventId: whole[cut].id, streamMode: options.streamMode }));
      assert.deepEqual(rest, whole.slice(cut + 1));
    }
  });

  test(`${line}: cancelling`, within, async () => {
    const { thread_id } = await c.threads.create();
    const run = await c.runs.create(thread_id, 'core', { input: ask('delete the folder build') }); // waits for a person
    await until(async () => (await c.threads.get(thread_id)).status === 'interrupted');
    assert.equal((await refused(c.runs.create(thread_id, 'core', { input: ask('x'), multitaskStrategy: 'reject' }))).status, 409);
    const queued = await c.runs.create(thread_id, 'core', { input: ask(question), multitaskStrategy: 'enqueue' });
    assert.equal(queued.status, 'pending');
    await c.runs.cancel(thread_id, run.run_id, true);
    assert.equal((await c.runs.get(thread_id, run.run_id)).status, 'interrupted');
    await c.runs.join(thread_id, queued.run_id);
    assert.equal((await c.runs.get(thread_id, queued.run_id)).status, 'success');
    assert.equal((await refused(c.runs.cancel(thread_id, run.run_id))).status, 409);
    assert.equal((await c.threads.get(thread_id)).status, 'idle');
  });

  test(`${line}: errors that are not tried again`, within, async () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    const { thread_id } = await c.threads.create();
    for (const [name, call, status, word] of [
      ['thread', () => c.threads.get(nobody), 404, 'thread_not_found'],
      ['run on no thread', () => c.runs.create(nobody, 'core', { input: ask('x') }), 404, 'thread_not_found'],
      ['assistant', () => c.runs.create(thread_id, 'nope', { input: ask('x') }), 404, 'assistant_not_found'],
      ['mode', () => c.runs.create(thread_id, 'core', { input: ask('x'), streamMode: 'nope' }), 422, 'stream_mode'],
      ['input', () => c.runs.create(thread_id, 'core', { input: { messages: [{ type: 'human', content: 7 }] } }), 422, 'input.messages[0].content'],
      ['resume', () => c.runs.create(thread_id, 'core', { command: { resume: true } }), 409, 'not_interrupted'],
      ['exists', () => c.threads.create({ threadId: thread_id }), 409, 'thread_exists'],
      ['token', () => client(Client, 'svc_wrong').threads.get(thread_id), 401, ''],
    ]) {
      const got = await refused(call());
      assert.equal(got.status, status, `${name}: ${got.message}`);
      assert.ok(got.message.includes(word), `${name}: ${got.message}`);
    }
    const made = await c.threads.create({ threadId: thread_id, ifExists: 'do_nothing' });
    assert.equal(made.thread_id, thread_id);
    const fresh = crypto.randomUUID();
    await c.runs.wait(fresh, 'quick', { input: ask('x'), ifNotExists: 'create' });
    assert.equal((await c.threads.get(fresh)).metadata.graph_id, 'quick');
  });
}

test('modes that are named twice, that look alike, and that there are not', within, async () => {
  const c = client(lines['1.12']);
  const { thread_id } = await c.threads.create();
  const names = async (streamMode) => [...new Set((await collect(c.runs.stream(thread_id, 'quick', { input: ask('hello'), streamMode }))).map(({ event }) => event))];
  assert.deepEqual(await names(['values', 'values']), ['metadata', 'values', 'end']);
  const both = await names(['messages', 'messages-tuple']);
  assert.ok(['messages', 'messages/metadata', 'messages/partial', 'messages/complete'].every((n) => both.includes(n)), `each in its own way: ${both}`);
  assert.deepEqual(await names([]), ['metadata', 'values', 'end']);
  for (const [mode, where] of [[['values', 'nope'], 'stream_mode[1]'], ['', 'stream_mode'], [{ a: 1 }, 'stream_mode'], [7, 'stream_mode']]) {
    const { status, message } = await refused(collect(c.runs.stream(thread_id, 'quick', { input: ask('hello'), streamMode: mode })));
    assert.equal(status, 422, JSON.stringify(mode));
    assert.ok(message.includes(where), message);
  }
  const [run] = await c.runs.list(thread_id);
  const response = await fetch(`${url}/threads/${thread_id}/runs/${run.run_id}/stream?stream_mode=values&stream_mode=nope`, { headers: { 'x-api-key': process.env.TOKEN } });
  assert.equal(response.status, 422);
});

test('bodies of one dialect for the other, and of both', within, async () => {
  const { thread_id } = await client(lines['1.12']).threads.create();
  const send = async (body, query = '', path = `/threads/${thread_id}/runs/stream`) => {
    const response = await fetch(`${url}${path}${query}`, {
      method: 'POST', headers: { authorization: `Bearer ${process.env.TOKEN}`, 'content-type': 'application/json' }, body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text(), ignored: response.headers.get('x-ignored-fields') };
  };
  const spec = { input: { messages: [{ role: 'user', content: 'hello' }] }, assistant_id: 'quick' };
  const isSpec = ({ status, text }) => status === 200 && !text.includes('event:') && text.includes('"type":"done"');
  const isGraph = ({ status, text }) => status === 200 && text.startsWith('event: metadata') && !text.includes('"type":"done"');
  assert.ok(isSpec(await send(spec)), 'what both understand is the default');
  assert.ok(isGraph(await send(spec, '?dialect=langgraph')));
  assert.ok(isGraph(await send({ ...spec, stream_mode: 'values' })));
  assert.ok(isGraph(await send({ ...spec, input: { messages: [{ type: 'human', content: 'hello' }] } })));
  assert.ok(isSpec(await send({ ...spec, stream_mode: 'values' }, '?dialect=spec')), 'what is said in so many words counts');
  for (const [name, body, query] of [
    ['a message of the other kind', { ...spec, input: { messages: [{ type: 'human', content: 'hello' }] } }, '?dialect=spec'],
    ['an input of the other kind', { ...spec, input: { colour: 'red' } }, '?dialect=spec'],
    ['no input', { assistant_id: 'quick' }, '?dialect=spec'],
    ['no assistant', { input: spec.input, stream_mode: 'values' }, ''],
    ['a dialect that is none', spec, '?dialect=both'],
  ]) {
    const { status, text } = await send(body, query);
    assert.equal(status, 422, `${name}: ${text}`);
  }
  const both = await send({ ...spec, stream_mode: 'values', user_id: 'ann', auto_approve: true });
  assert.ok(isGraph(both));
  assert.match(both.ignored, /auto_approve/, 'what the other dialect has is not obeyed, and that is told');
});

test('1.12: the client itself goes on after a cut', within, async () => {
  const through = await cutting(3000);
  const c = new lines['1.12']({ apiUrl: through.url, apiKey: process.env.TOKEN, callerOptions: { maxRetries: 0 } });
  const { thread_id } = await c.threads.create();
  const events = await collect(c.runs.stream(thread_id, 'agent', { input: ask(question), streamMode: ['messages-tuple', 'values', 'updates'] }));
  through.close();
  assert.ok(through.cuts() > 0);
  const [run] = await c.runs.list(thread_id).catch(() => client(lines['1.12']).runs.list(thread_id));
  const again = await collect(client(lines['1.12']).runs.joinStream(thread_id, run.run_id, { lastEventId: '-1', streamMode: ['messages-tuple', 'values', 'updates'] }));
  assert.deepEqual(events, again, 'nothing is lost and nothing comes twice');
});

/** A proxy that cuts the first streams after some bytes. */
async function cutting(bytes) {
  let cuts = 0;
  const server = http.createServer((request, response) => {
    const up = http.request(url + request.url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      const cut = answer.headers['content-type'] === 'text/event-stream' && cuts < 2;
      let sent = 0;
      answer.on('data', (piece) => {
        if (response.destroyed) return;
        sent += piece.length;
        if (!cut || sent <= bytes) {
          response.write(piece);
          return;
        }
        cuts += 1; // in the middle of a piece, and never as an end would look
        // A stream that breaks throws away what it has parsed and nobody has read yet: the client is given time for that.
        response.write(piece.subarray(0, Math.floor(piece.length / 2)), () => setTimeout(() => response.socket?.resetAndDestroy(), 200));
        answer.destroy();
      });
      answer.on('end', () => response.end());
    });
    request.pipe(up);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, cuts: () => cuts, close: () => server.close() };
}

test('RemoteGraph', within, async () => {
  const graph = new RemoteGraph({ graphId: 'core', url, apiKey: process.env.TOKEN });
  const { thread_id } = await client(lines['2.0.0']).threads.create();
  const config = { configurable: { thread_id } };
  const answer = await graph.invoke(ask(question), config);
  assert.match(answer.messages.at(-1).content, /^This host has been up /);
  const kinds = [];
  for await (const [kind] of await graph.stream(ask('and the memory?'), { ...config, streamMode: ['values', 'updates'] })) kinds.push(kind);
  assert.ok(kinds.includes('values') && kinds.includes('updates'));
  const state = await graph.getState(config);
  assert.deepEqual(state.next, []);
  assert.equal(state.values.messages.filter(({ type }) => type === 'human').length, 2);
  const history = [];
  for await (const s of graph.getStateHistory(config)) history.push(s);
  assert.ok(history.length >= 8);
  await graph.updateState(config, ask('changed'));
  assert.equal((await graph.getState(config)).values.messages.at(-1).content, 'changed');
});
