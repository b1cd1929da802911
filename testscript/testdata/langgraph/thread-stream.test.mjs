// GET /threads/{id}/stream as the published clients call it: run after run, in all of its modes, joined again.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { release, serveModel } from './model.mjs';
import { ask, client, lines, of, until, url, within } from './service.mjs';

const model = await serveModel();
after(() => model.close());

/** The events of a stream of a thread up to the ends of so many runs. The stream itself does not end. */
async function upTo(ends, c, thread, options) {
  const stop = new AbortController();
  const events = [];
  for await (const event of c.threads.joinStream(thread, { ...options, signal: stop.signal })) {
    events.push(event);
    if (['end', 'error'].includes(event.event)) ends -= 1;
    if (!ends) {
      stop.abort();
      break;
    }
  }
  return events;
}

/** Has a run made, to its end. */
async function make(c, thread, assistant, options) {
  const { run_id } = await c.runs.create(thread, assistant, options);
  await c.runs.join(thread, run_id);
}

const names = (events) => events.map(({ event }) => event);
const runsOf = (events) => [...new Set(events.map(({ id }) => id.split(':')[0]))];

for (const [line, Client] of Object.entries(lines)) {
  const c = client(Client);

  test(`${line}: each mode tells of one run after the other`, within, async () => {
    const { thread_id } = await c.threads.create();
    const readers = Object.fromEntries([['none'], ['run_modes'], ['lifecycle'], ['state_update'], ['lifecycle', 'state_update'], ['run_modes', 'state_update']].map((streamMode) => [
      streamMode.join(' '), upTo(2, c, thread_id, { ...(streamMode[0] !== 'none' && { streamMode }), lastEventId: '-1' }),
    ]));
    await make(c, thread_id, 'quick', { input: ask('first'), streamMode: ['updates'] });
    await make(c, thread_id, 'quick', { input: ask('second'), streamMode: ['messages-tuple'] });
    const seen = {};
    for (const [mode, reader] of Object.entries(readers)) seen[mode] = await reader;
    assert.deepEqual(names(seen.run_modes), ['metadata', 'updates', 'end', 'metadata', 'messages', 'messages', 'end']);
    assert.deepEqual(seen.none, seen.run_modes);
    assert.deepEqual(names(seen.lifecycle), ['metadata', 'end', 'metadata', 'end']);
    assert.deepEqual(names(seen.state_update), ['metadata', 'values', 'values', 'end', 'metadata', 'values', 'values', 'end']);
    assert.deepEqual(seen['lifecycle state_update'], seen.state_update);
    assert.deepEqual(names(seen['run_modes state_update']), ['metadata', 'values', 'updates', 'values', 'end', 'metadata', 'values', 'messages', 'messages', 'values', 'end']);
    const runs = (await c.runs.list(thread_id)).map(({ run_id }) => run_id).reverse();
    assert.deepEqual(runsOf(seen.run_modes), runs, 'ids name the run');
    assert.deepEqual(of(seen.state_update, 'values').at(-1), (await c.threads.getState(thread_id)).values);

    // From any event on, the rest; from the first run on, the second too.
    for (const [i, { id }] of seen.run_modes.entries()) {
      const rest = seen.run_modes.slice(i + 1);
      if (rest.length) assert.deepEqual(await upTo(of(rest, 'end').length, c, thread_id, { lastEventId: id }), rest, id);
    }
  });

  test(`${line}: a run that starts later, and one that was asked for after it`, within, async () => {
    const { thread_id } = await c.threads.create();
    const later = await c.runs.create(thread_id, 'quick', { input: ask('later'), afterSeconds: 3, streamMode: 'values' });
    const reader = upTo(2, c, thread_id, { streamMode: ['state_update'], lastEventId: '-1' });
    const now = await c.runs.create(thread_id, 'quick', { input: ask('now'), multitaskStrategy: 'enqueue', streamMode: 'values' });
    const events = await reader;
    const { messages } = of(events, 'values').at(-1);
    assert.deepEqual(messages.map(({ content }) => content).sort(), ['later', 'later', 'now', 'now']);
    const began = messages[0].content === 'now' ? [now.run_id, later.run_id] : [later.run_id, now.run_id];
    assert.deepEqual(runsOf(events), began, 'in the order in which they begin');
    assert.deepEqual(await upTo(1, c, thread_id, { streamMode: ['state_update'], lastEventId: events.find(({ event }) => event === 'end').id }),
      events.slice(events.findIndex(({ event }) => event === 'end') + 1));
  });

  test(`${line}: a run that is taken back while it is followed`, within, async () => {
    const { thread_id } = await c.threads.create();
    const name = `${line} back`;
    const run = await c.runs.create(thread_id, 'quick', { input: ask(`hold ${name}`), streamMode: 'messages-tuple' });
    const reader = upTo(2, c, thread_id, { lastEventId: '-1' });
    await until(async () => (await c.runs.get(thread_id, run.run_id)).status === 'running');
    await c.runs.cancel(thread_id, run.run_id, true, 'rollback');
    release(name);
    await make(c, thread_id, 'quick', { input: ask('next'), streamMode: 'updates' });
    const events = await reader;
    assert.deepEqual(names(events).filter((n) => n !== 'messages'), ['metadata', 'error', 'metadata', 'updates', 'end']);
    assert.equal(of(events, 'error')[0].error, 'cancelled');
    assert.equal((await c.threads.getState(thread_id)).values.messages.length, 2, 'what it did is gone');
  });

  test(`${line}: an interrupt, and the run that goes on`, within, async () => {
    const admin = client(Client, process.env.ADMIN);
    const { thread_id } = await admin.threads.create();
    const reader = upTo(2, admin, thread_id, { lastEventId: '-1' });
    await make(admin, thread_id, 'core', { input: ask('delete the folder gone'), streamMode: 'updates' });
    await admin.runs.wait(thread_id, 'core', { command: { resume: 'no' } });
    const events = await reader;
    assert.equal(of(events, 'updates').filter((u) => u.__interrupt__).length, 1);
    assert.deepEqual(runsOf(events).length, 1);
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  });
}

test('what a client asks that makes no sense', within, async () => {
  const c = client(lines['2.0.0']);
  const { thread_id } = await c.threads.create();
  const get = (path, headers = {}) => fetch(`${url}/threads/${path}`, { headers: { 'x-api-key': process.env.TOKEN, ...headers } });
  for (const [name, path, headers, status, detail] of [
    ['mode', `${thread_id}/stream?stream_mode=values`, {}, 422, 'stream_mode[0]'],
    ['id', `${thread_id}/stream`, { 'last-event-id': '7' }, 422, 'Last-Event-ID'],
    ['id of no run', `${thread_id}/stream`, { 'last-event-id': `${thread_id}:3` }, 404, 'run_id'],
    ['thread', `${crypto.randomUUID()}/stream`, {}, 404, 'thread_id'],
  ]) {
    const response = await get(path, headers);
    assert.equal(response.status, status, name);
    assert.ok((await response.json()).detail.startsWith(detail), name);
  }
});
