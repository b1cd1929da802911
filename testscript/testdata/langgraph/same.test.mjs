// What the published client sees of the published server, through the gateway and without it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { Client } from '@langchain/langgraph-sdk';

const direct = () => new Client({ apiUrl: `http://127.0.0.1:${process.env.UPSTREAM}`, callerOptions: { maxRetries: 0 } });
const through = () => new Client({
  apiUrl: `http://127.0.0.1:${process.env.SITE}`, callerOptions: { maxRetries: 0 },
  defaultHeaders: { Authorization: `Bearer ${process.env.TOKEN}` },
});

/** What the server shows of the request's header, and times. */
const varies = /^(x-.*|langgraph_request_id|langgraph_auth.*|created_at|updated_at|run_attempt|user-agent)$/;

/** Ids, which differ from run to run, as numbers in the order in which they come. */
function plain(value) {
  const seen = new Map();
  const name = (found) => {
    if (!seen.has(found)) seen.set(found, `<id ${seen.size}>`);
    return seen.get(found);
  };
  const kept = JSON.stringify(value, (key, value) => (varies.test(key) ? undefined : value));
  return JSON.parse(kept
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, name)
    .replace(/\b[0-9a-f]{32}\b/g, name)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, '<time>'));
}

const ask = (content) => ({ messages: [{ role: 'user', id: 'h-1', content }] });

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Waits until no run of a thread goes on: the last event of a stream comes before the status changes. */
async function settled(c, thread_id) {
  const busy = async () => (await c.threads.get(thread_id)).status === 'busy'
    || (await c.runs.list(thread_id)).some(({ status }) => status === 'pending' || status === 'running');
  while (await busy()) await setTimeout(50);
}

const scenarios = {
  'assistants': async (c) => [await c.assistants.search(), await c.assistants.getGraph('agent')],
  'a stream in all modes': async (c) => {
    const { thread_id } = await c.threads.create({ metadata: { session_id: 'abc', page_token: 'def' } });
    const streamMode = ['values', 'updates', 'messages-tuple', 'custom', 'debug', 'tasks', 'checkpoints'];
    const events = await collect(c.runs.stream(thread_id, 'agent', { input: ask('hello'), streamMode }));
    await settled(c, thread_id);
    return [events, await c.threads.getState(thread_id), await c.threads.getHistory(thread_id), await c.threads.get(thread_id), await c.runs.list(thread_id)];
  },
  'a run without a thread': (c) => collect(c.runs.stream(null, 'agent', { input: ask('hello') })),
  'an interrupt and its answer': async (c) => {
    const { thread_id } = await c.threads.create();
    const asked = await collect(c.runs.stream(thread_id, 'agent', { input: ask('ask') }));
    await settled(c, thread_id);
    const state = await c.threads.getState(thread_id);
    const answered = await collect(c.runs.stream(thread_id, 'agent', { command: { resume: 'yes' } }));
    return [asked, state, answered];
  },
  'waiting and joining': async (c) => {
    const { thread_id } = await c.threads.create();
    const waited = await c.runs.wait(thread_id, 'agent', { input: ask('hello') });
    await settled(c, thread_id);
    const { status: _, ...run } = await c.runs.create(thread_id, 'agent', { input: ask('again'), streamResumable: true });
    const joined = await c.runs.join(thread_id, run.run_id);
    await settled(c, thread_id);
    return [waited, run, joined, (await c.runs.get(thread_id, run.run_id)).status];
  },
  'cancelling': async (c) => {
    const { thread_id } = await c.threads.create();
    const run = await c.runs.create(thread_id, 'agent', { input: ask('slow') });
    // The status of a run that has not begun would be another one.
    while ((await c.runs.get(thread_id, run.run_id)).status === 'pending') await setTimeout(50);
    await c.runs.cancel(thread_id, run.run_id, true);
    return (await c.runs.get(thread_id, run.run_id)).status;
  },
  'the store': async (c) => {
    await c.store.putItem(['users', 'ann'], 'colour', { value: 'blue', next_page_token: 'CAUQAA' });
    return [await c.store.getItem(['users', 'ann'], 'colour'), await c.store.searchItems(['users']), await c.store.listNamespaces({}), await c.store.deleteItem(['users', 'ann'], 'colour')];
  },
  'errors': async (c) => {
    const failed = async (promise) => {
      try {
        return await promise;
      } catch (e) {
        return { status: e.status, message: e.message };
      }
    };
    return [await failed(c.threads.get('00000000-0000-4000-8000-000000000000')), await failed(c.assistants.get('none')), await failed(c.runs.wait(null, 'none', { input: ask('x') }))];
  },
  'updating and copying': async (c) => {
    const { thread_id } = await c.threads.create();
    await c.runs.wait(thread_id, 'agent', { input: ask('hello') });
    await settled(c, thread_id);
    await c.threads.updateState(thread_id, { values: ask('changed') });
    const copy = await c.threads.copy(thread_id);
    const found = (await c.threads.search({ limit: 100 })).filter((t) => t.thread_id === thread_id).length;
    await c.threads.delete(thread_id);
    return [copy.values ?? null, found];
  },
};

for (const [name, scenario] of Object.entries(scenarios)) {
  test(name, { timeout: 60_000 }, async () => {
    const want = plain(await scenario(direct()));
    assert.deepEqual(plain(await scenario(through())), want);
  });
}

test('a secret', { timeout: 60_000 }, async () => {
  const shown = JSON.stringify(await collect(through().runs.stream(null, 'agent', { input: ask('secret'), streamMode: ['values', 'messages-tuple'] })));
  assert.match(shown, /For bob the password is REDACTED/);
  assert.doesNotMatch(shown, /Hunter2/);
});
