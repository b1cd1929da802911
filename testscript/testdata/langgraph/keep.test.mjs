// What the published client keeps with this service: assistants, items of the store, crons.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from '@langchain/langgraph-sdk';

const as = (token) => new Client({
  apiUrl: `http://127.0.0.1:${process.env.SITE}`, callerOptions: { maxRetries: 0 }, apiKey: token,
});
const ann = as(process.env.ANN);
const ben = as(process.env.BEN);
const root = as(process.env.ROOT);

const status = (code, text = '') => (err) => {
  assert.equal(err.status, code, String(err));
  assert.ok(String(err).includes(text), `${err} has not ${text}`);
  return true;
};
const ask = (content) => ({ messages: [{ role: 'user', content }] });

test('assistants', async () => {
  const listed = await ann.assistants.search({ graphId: 'quick' });
  assert.equal(listed.length, 1);
  assert.equal(listed[0].metadata.created_by, 'system');
  assert.equal((await ann.assistants.get('quick')).assistant_id, listed[0].assistant_id);
  assert.equal((await ann.assistants.get('agent')).graph_id, 'svc-orchestrator');

  const made = await ann.assistants.create({ graphId: 'quick', name: 'mine', config: { recursion_limit: 5 }, metadata: { team: 'x' } });
  assert.equal(made.version, 1);
  const id = made.assistant_id;
  await assert.rejects(ann.assistants.create({ graphId: 'quick', assistantId: id }), status(409));
  assert.equal((await ann.assistants.create({ graphId: 'quick', assistantId: id, ifExists: 'do_nothing' })).name, 'mine');
  assert.equal((await ann.assistants.update(id, { name: 'second' })).version, 2);
  assert.deepEqual((await ann.assistants.getVersions(id)).map((v) => v.name), ['second', 'mine']);
  assert.equal((await ann.assistants.setLatest(id, 1)).name, 'mine');
  assert.equal(await ann.assistants.count({ metadata: { team: 'x' } }), 1);
  const page = await ann.assistants.search({ limit: 1, includePagination: true });
  assert.equal(page.next, '1');
  const graph = await ann.assistants.getGraph(id);
  assert.deepEqual(graph.nodes.map((n) => n.id), ['__start__', 'agent', 'tools', '__end__']);
  assert.equal((await ann.assistants.getSchemas(id)).graph_id, 'quick');
  assert.deepEqual(Object.keys(await ann.assistants.getSubgraphs('svc-orchestrator')), ['tools']);

  const { messages } = await ann.runs.wait(null, id, { input: ask('hello') });
  assert.equal(messages.at(-1).type, 'ai');

  await assert.rejects(ben.assistants.get(id), status(404));
  await assert.rejects(ben.assistants.delete(id), status(404));
  await assert.rejects(root.assistants.update('quick', { name: 'x' }), status(403, 'does not change'));
  assert.equal((await root.assistants.get(id)).name, 'mine');
  await ann.assistants.delete(id);
  await assert.rejects(ann.assistants.get(id), status(404));
});

test('the store', async () => {
  await ann.store.putItem(['users', 'ann'], 'a/b.c', { colour: 'red', n: 1 }, { ttl: 10 });
  await ann.store.putItem(['users', 'ann', 'notes'], 'k', { text: 'A blue Car', n: 2 });
  await ben.store.putItem(['users', 'ann'], 'a/b.c', { colour: 'green' });
  const item = await ann.store.getItem(['users', 'ann'], 'a/b.c', { refreshTtl: true });
  assert.deepEqual(item.value, { colour: 'red', n: 1 });
  assert.ok(item.createdAt && item.updatedAt);
  assert.equal(await ann.store.getItem(['users', 'ann'], 'none'), null);
  const keys = async (client, prefix, options) => (await client.store.searchItems(prefix, options)).items.map((i) => i.key);
  assert.deepEqual(await keys(ann, ['users']), ['k', 'a/b.c']);
  assert.deepEqual(await keys(ann, ['users'], { filter: { n: { $lt: 2 } } }), ['a/b.c']);
  assert.deepEqual(await keys(ann, ['users'], { query: 'car' }), ['k']);
  assert.deepEqual(await keys(root, ['users'], { filter: { colour: 'green' } }), ['a/b.c']);
  assert.deepEqual((await ann.store.listNamespaces({ maxDepth: 1 })).namespaces, [['users']]);
  assert.deepEqual((await ann.store.listNamespaces({ suffix: ['*', 'notes'] })).namespaces, [['users', 'ann', 'notes']]);
  await ann.store.deleteItem(['users', 'ann'], 'a/b.c');
  assert.deepEqual((await ben.store.getItem(['users', 'ann'], 'a/b.c')).value, { colour: 'green' });
  await assert.rejects(ann.store.putItem([], 'k', {}), status(422, 'namespace'));
  await assert.rejects(ann.store.putItem(['a'], 'k', { x: 'x'.repeat(10 << 20) }), status(413));
  await assert.rejects(ann.store.searchItems(['users'], { filter: { n: { $in: [1] } } }), status(422, 'filter.n.$in'));
});

test('crons', async () => {
  const cron = await ann.crons.create('quick', { schedule: '0 9 * * 1-5', input: ask('good morning'), metadata: { team: 'x' } });
  assert.ok(cron.next_run_date);
  const { thread_id: thread } = await ann.threads.create();
  const on = await ann.crons.createForThread(thread, 'quick', { schedule: '@daily', input: ask('hello'), enabled: false });
  assert.equal(on.thread_id, thread);
  assert.equal(on.next_run_date, null);
  const changed = await ann.crons.update(cron.cron_id, { schedule: '*/5 * * * *', endTime: '2100-01-01T00:00:00Z' });
  assert.equal(changed.schedule, '*/5 * * * *');
  assert.deepEqual((await ann.crons.search({ threadId: thread })).map((c) => c.cron_id), [on.cron_id]);
  assert.equal(await ann.crons.count({}), 2);
  assert.equal(await ben.crons.count({}), 0);
  await assert.rejects(ann.crons.create('quick', { schedule: '* * * * * *', input: ask('x') }), status(422, 'schedule'));
  await assert.rejects(ben.crons.createForThread(thread, 'quick', { schedule: '@daily', input: ask('x') }), status(404));
  await assert.rejects(ben.crons.delete(cron.cron_id), status(404));
  await ann.crons.delete(cron.cron_id);
  await assert.rejects(ann.crons.update(cron.cron_id, { enabled: true }), status(404));
});
