// Threads and their states, as the published clients see them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ask, client, lines, refused, url, within } from './service.mjs';

const nobody = '00000000-0000-4000-8000-000000000000';
const words = (messages) => messages.map(({ type, content }) => `${type}: ${content.split(' ').slice(0, 2).join(' ')}`);

for (const [line, Client] of Object.entries(lines)) {
  const c = client(Client);
  const admin = client(Client, process.env.ADMIN);

  test(`${line}: a thread's life`, within, async () => {
    const mark = crypto.randomUUID();
    const made = await c.threads.create({ metadata: { mark }, graphId: 'core' });
    assert.equal(made.status, 'idle');
    assert.deepEqual(made.metadata, { mark, graph_id: 'core' });
    assert.deepEqual((await c.threads.get(made.thread_id)).metadata, made.metadata);
    await c.threads.update(made.thread_id, { metadata: { title: 'one' } });
    assert.deepEqual((await c.threads.get(made.thread_id)).metadata, { mark, graph_id: 'core', title: 'one' });
    await c.runs.wait(made.thread_id, 'core', { input: ask('How long has this host been up?') });
    const [found, ...more] = await c.threads.search({ metadata: { mark } });
    assert.equal(more.length, 0);
    assert.equal(found.values.messages[0].content, 'How long has this host been up?');
    assert.deepEqual(Object.keys((await c.threads.search({ metadata: { mark }, select: ['thread_id'] }))[0]), ['thread_id']);
    assert.equal(await c.threads.count({ metadata: { mark } }), 1);
    assert.equal(await c.threads.count({ metadata: { mark }, status: 'busy' }), 0);
    const copy = await c.threads.copy(made.thread_id);
    assert.notEqual(copy.thread_id, made.thread_id);
    assert.deepEqual((await c.threads.getState(copy.thread_id)).values, (await c.threads.getState(made.thread_id)).values);
    const response = await fetch(`${url}/threads/search`, {
      method: 'POST', headers: { 'x-api-key': process.env.TOKEN, 'content-type': 'application/json' }, body: JSON.stringify({ limit: 1, colour: 'red' }),
    });
    assert.ok(Number(response.headers.get('x-pagination-total')) >= 2);
    assert.equal(response.headers.get('x-pagination-next'), '1');
    assert.equal(response.headers.get('x-ignored-fields'), 'colour');
    // The chat UI calls the default graph agent, and finds its threads by that.
    const { thread_id } = await c.threads.create({ metadata: { mark } });
    await c.runs.wait(thread_id, 'agent', { input: ask('tell me about yourself') });
    assert.deepEqual((await c.threads.search({ metadata: { graph_id: 'agent', mark } })).map((t) => t.thread_id), [thread_id]);
    await c.threads.delete(made.thread_id);
    assert.equal((await refused(c.threads.get(made.thread_id))).status, 404);
  });

  test(`${line}: states, updates and branches`, within, async () => {
    const { thread_id } = await c.threads.create();
    const empty = await c.threads.getState(thread_id);
    assert.deepEqual([empty.values, empty.next], [{ messages: [] }, []]);
    await c.runs.wait(thread_id, 'quick', { input: ask('first') });
    const before = await c.threads.getState(thread_id);
    await c.runs.wait(thread_id, 'quick', { input: { ...ask('second'), mood: 'good' } });
    const now = await c.threads.getState(thread_id);
    assert.equal(now.values.messages.length, 4);
    assert.equal(now.values.mood, 'good');
    assert.deepEqual((await c.threads.getState(thread_id, before.checkpoint)).values, before.values);
    assert.deepEqual((await c.threads.getState(thread_id, before.checkpoint.checkpoint_id)).values, before.values);
    const history = await c.threads.getHistory(thread_id, { limit: 100 });
    assert.deepEqual(history.map(({ metadata }) => metadata.step), [4, 3, 2, 1, 0, -1]);
    assert.equal(history[0].parent_checkpoint.checkpoint_id, history[1].checkpoint.checkpoint_id);
    const rest = await c.threads.getHistory(thread_id, { before: { configurable: { checkpoint_id: history[2].checkpoint.checkpoint_id } } });
    assert.deepEqual(rest.map(({ metadata }) => metadata.step), [1, 0, -1]);

    // A message with an id that is there takes its place; a removal takes away.
    const [human, ai] = now.values.messages;
    await c.threads.updateState(thread_id, { values: { messages: [{ ...human, content: 'changed' }, { type: 'remove', id: ai.id }] } });
    const updated = await c.threads.getState(thread_id);
    assert.equal(updated.metadata.source, 'update');
    assert.equal(updated.values.messages[0].content, 'changed');
    assert.equal(updated.values.messages.length, 3);

    // Time travel: a run from an earlier checkpoint makes a branch, and nothing is lost.
    const branch = await c.runs.wait(thread_id, 'quick', { input: ask('another way'), checkpoint: before.checkpoint });
    assert.equal(branch.messages.length, 4);
    assert.equal(branch.messages[2].content, 'another way');
    assert.deepEqual((await c.threads.getState(thread_id)).values, branch);
    assert.deepEqual((await c.threads.getState(thread_id, now.checkpoint)).values, now.values);
    const other = await c.threads.create();
    assert.equal((await refused(c.threads.getState(other.thread_id, now.checkpoint.checkpoint_id))).status, 404);
    assert.equal((await refused(c.runs.wait(other.thread_id, 'quick', { input: ask('x'), checkpointId: now.checkpoint.checkpoint_id }))).status, 404);
  });

  test(`${line}: a thread that begins with a state`, within, async () => {
    const { thread_id } = await c.threads.create({
      supersteps: [{ updates: [{ values: { messages: [{ type: 'human', content: 'old question' }, { type: 'ai', content: 'old answer' }] }, asNode: 'agent' }] }],
    });
    const state = await c.threads.getState(thread_id);
    assert.deepEqual(words(state.values.messages), ['human: old question', 'ai: old answer']);
  });

  test(`${line}: what belongs to somebody else is not there`, within, async () => {
    const theirs = (await admin.threads.create()).thread_id;
    await admin.runs.wait(theirs, 'quick', { input: ask('secret') });
    const [run] = await admin.runs.list(theirs);
    const { checkpoint } = await admin.threads.getState(theirs);
    for (const [name, call] of Object.entries({
      get: () => c.threads.get(theirs), update: () => c.threads.update(theirs, { metadata: { a: 1 } }), delete: () => c.threads.delete(theirs),
      copy: () => c.threads.copy(theirs), state: () => c.threads.getState(theirs), 'state at': () => c.threads.getState(theirs, checkpoint.checkpoint_id),
      history: () => c.threads.getHistory(theirs), updateState: () => c.threads.updateState(theirs, { values: ask('x') }),
      run: () => c.runs.wait(theirs, 'quick', { input: ask('x') }), runs: () => c.runs.list(theirs), 'get run': () => c.runs.get(theirs, run.run_id),
      'delete run': () => c.runs.delete(theirs, run.run_id), join: () => c.runs.join(theirs, run.run_id), cancel: () => c.runs.cancel(theirs, run.run_id),
      resume: () => c.runs.wait(theirs, 'quick', { command: { resume: true } }), nobody: () => c.threads.get(nobody),
    })) assert.equal((await refused(call())).status, 404, name);
    assert.deepEqual(await c.threads.search({ ids: [theirs] }), []);
    const mine = (await c.threads.create()).thread_id;
    assert.equal((await admin.threads.get(mine)).thread_id, mine, 'an admin sees all');
    const taken = await refused(c.threads.create({ threadId: theirs, ifExists: 'do_nothing' }));
    assert.ok(taken.status === 409 || taken.status === 404, taken.message);
  });
}
