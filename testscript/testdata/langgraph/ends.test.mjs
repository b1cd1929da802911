// How runs end, and what comes instead: clients that leave, cancelling, runs side by side, requests that come
// twice, servers that are told of the end.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import http from 'node:http';
import { after, test } from 'node:test';

import { release, serveModel } from './model.mjs';
import { ask, client, collect, lines, of, refused, until, url, within } from './service.mjs';

const model = await serveModel();
after(() => model.close());

const status = async (c, run) => (await c.runs.get(run.thread_id, run.run_id)).status;
const said = ({ values: { messages } }) => messages.map(({ type, content }) => `${type}: ${content}`);

/** A run that says a word and holds back the others until they are released. */
async function holding(c, name, options = {}) {
  const thread_id = options.thread_id ?? (await c.threads.create()).thread_id;
  const run = await c.runs.create(thread_id, 'quick', { input: ask(`hold ${name}`), streamMode: 'messages-tuple', ...options });
  await until(async () => (await status(c, run)) === 'running');
  return run;
}

/** Follows a stream up to its first piece of a message, and leaves. */
async function leave(stream, gone) {
  try {
    for await (const { event } of stream) if (event === 'messages') gone.abort();
  } catch (e) {
    assert.match(String(e), /abort/i);
  }
}

for (const [line, Client] of Object.entries(lines)) {
  const c = client(Client);

  test(`${line}: clients that leave`, within, async () => {
    for (const [onDisconnect, want] of [['cancel', 'interrupted'], ['continue', 'success'], [undefined, 'success']]) {
      for (const how of ['stream', 'wait', 'join', 'joinStream']) {
        if (how.startsWith('join') && onDisconnect === 'continue') continue; // there is no such parameter
        const name = `${line} ${how} ${onDisconnect}`;
        const { thread_id } = await c.threads.create();
        const gone = new AbortController();
        const { signal } = gone;
        const options = { input: ask(`hold ${name}`), streamMode: ['messages-tuple'], signal };
        const here = async () => (await c.runs.list(thread_id))[0];
        const working = () => until(async () => (await here())?.status === 'running');
        if (how === 'stream') {
          await leave(c.runs.stream(thread_id, 'quick', { ...options, onDisconnect }), gone);
        } else if (how === 'wait') {
          const waiting = assert.rejects(c.runs.wait(thread_id, 'quick', { ...options, onDisconnect }));
          await working();
          gone.abort();
          await waiting;
        } else {
          await holding(c, name, { thread_id });
          const cancelOnDisconnect = onDisconnect === 'cancel';
          const { run_id } = await here();
          if (how === 'joinStream') {
            await leave(c.runs.joinStream(thread_id, run_id, { cancelOnDisconnect, signal, streamMode: ['messages-tuple'] }), gone);
          } else {
            const path = `${url}/threads/${thread_id}/runs/${run_id}/join?cancel_on_disconnect=${Number(cancelOnDisconnect)}`;
            const response = await fetch(path, { headers: { 'x-api-key': process.env.TOKEN }, signal });
            gone.abort();
            await assert.rejects(response.text());
          }
        }
        if (want === 'success') release(name);
        await until(async () => !['pending', 'running'].includes((await here()).status));
        assert.equal((await here()).status, want, name);
        release(name);
      }
    }
  });

  test(`${line}: runs side by side on a thread`, within, async () => {
    for (const [multitaskStrategy, first, want] of [
      ['enqueue', 'success', ['human: hold NAME', 'ai: one moment now', 'human: next', 'ai: next']],
      ['interrupt', 'interrupted', ['human: hold NAME', 'human: next', 'ai: next']],
      ['rollback', 404, ['human: next', 'ai: next']],
    ]) {
      const name = `${line} ${multitaskStrategy}`;
      const run = await holding(c, name);
      const { thread_id } = run;
      assert.equal((await refused(c.runs.create(thread_id, 'quick', { input: ask('no') }))).status, 409);
      const next = await c.runs.create(thread_id, 'quick', { input: ask('next'), multitaskStrategy });
      assert.equal(next.multitask_strategy, multitaskStrategy);
      if (multitaskStrategy === 'enqueue') {
        assert.equal(await status(c, next), 'pending');
        release(name);
      }
      await c.runs.join(thread_id, next.run_id);
      assert.equal(await status(c, next), 'success');
      if (first === 404) assert.equal((await refused(status(c, run))).status, 404);
      else assert.equal(await status(c, run), first);
      assert.deepEqual(said(await c.threads.getState(thread_id)), want.map((s) => s.replace('NAME', name)));
      assert.equal((await c.threads.get(thread_id)).status, 'idle');
      release(name);
    }
  });

  test(`${line}: several queued runs come in their order, and one that is cancelled does not`, within, async () => {
    const name = `${line} queue`;
    const { thread_id } = await holding(c, name);
    const queued = [];
    for (const word of ['a', 'b', 'c']) queued.push(await c.runs.create(thread_id, 'quick', { input: ask(word), multitaskStrategy: 'enqueue' }));
    await c.runs.cancel(thread_id, queued[1].run_id, true);
    assert.equal((await refused(c.threads.delete(thread_id))).status, 409, 'it is in use');
    release(name);
    await c.runs.join(thread_id, queued[2].run_id);
    assert.deepEqual(said(await c.threads.getState(thread_id)).filter((s) => s.startsWith('human')), [`human: hold ${name}`, 'human: a', 'human: c']);
    assert.deepEqual(await Promise.all(queued.map((run) => status(c, run))), ['success', 'interrupted', 'success']);
  });

  test(`${line}: a rollback takes a run back`, within, async () => {
    const { thread_id } = await c.threads.create();
    await c.runs.wait(thread_id, 'quick', { input: { ...ask('first'), mood: 'good' } });
    const before = await c.threads.getState(thread_id);
    const run = await holding(c, `${line} back`, { thread_id, input: { ...ask(`hold ${line} back`), mood: 'bad' } });
    assert.equal((await c.threads.getState(thread_id)).values.mood, 'bad');
    await c.runs.cancel(thread_id, run.run_id, true, 'rollback');
    assert.equal((await refused(status(c, run))).status, 404);
    assert.deepEqual((await c.threads.getState(thread_id)).values, before.values);
    assert.equal((await c.threads.getState(thread_id)).checkpoint.checkpoint_id, before.checkpoint.checkpoint_id);
    assert.equal((await c.threads.get(thread_id)).status, 'idle');
    release(`${line} back`);
    // One that is over can be taken back too, unless something has followed it.
    const [done] = await c.runs.list(thread_id);
    const next = await c.runs.create(thread_id, 'quick', { input: ask('second') });
    await c.runs.join(thread_id, next.run_id);
    assert.equal((await refused(c.runs.cancel(thread_id, done.run_id, true, 'rollback'))).status, 409);
    await c.runs.cancel(thread_id, next.run_id, true, 'rollback');
    assert.deepEqual((await c.threads.getState(thread_id)).values, before.values);
  });

  test(`${line}: a run that starts later`, within, async () => {
    const { thread_id } = await c.threads.create();
    const asked = Date.now();
    const run = await c.runs.create(thread_id, 'quick', { input: ask('later'), afterSeconds: 2 });
    assert.equal(run.status, 'pending');
    const events = await collect(c.runs.joinStream(thread_id, run.run_id, { streamMode: ['values'] }));
    assert.ok(Date.now() - asked >= 1900);
    assert.deepEqual(events.map(({ event }) => event), ['metadata', 'values', 'values', 'end']);
    const never = await c.runs.create(thread_id, 'quick', { input: ask('never'), afterSeconds: 86_400 });
    await c.runs.cancel(thread_id, never.run_id, true);
    assert.equal(await status(c, never), 'interrupted');
    assert.deepEqual(said(await c.threads.getState(thread_id)), ['human: later', 'ai: later']);
  });

  test(`${line}: a request that comes twice`, within, async () => {
    const key = crypto.randomUUID();
    const again = new Client({ apiUrl: url, apiKey: process.env.TOKEN, callerOptions: { maxRetries: 0 }, defaultHeaders: { 'Idempotency-Key': key } });
    const { thread_id } = await c.threads.create();
    const [one, two] = await Promise.all([1, 2].map(() => again.runs.create(thread_id, 'quick', { input: ask('once') })));
    assert.equal(one.run_id, two.run_id);
    assert.equal((await refused(again.runs.create(thread_id, 'quick', { input: ask('twice') }))).status, 422, 'the key is of another request');
    await c.runs.join(thread_id, one.run_id);
    const whole = await collect(c.runs.joinStream(thread_id, one.run_id));
    assert.deepEqual(await collect(again.runs.stream(thread_id, 'quick', { input: ask('once') })), whole, 'its stream too');
    assert.equal((await c.runs.list(thread_id)).length, 1);
    const admin = new Client({ apiUrl: url, apiKey: process.env.ADMIN, callerOptions: { maxRetries: 0 }, defaultHeaders: { 'Idempotency-Key': key } });
    assert.equal((await refused(admin.runs.wait(null, 'quick', { input: ask('mine') }))).status, 200, 'the key of somebody else');
    // A batch has as many runs, however often it comes.
    const batch = ['a', 'b', 'a'].map((word) => ({ assistantId: 'quick', input: ask(word) }));
    const many = new Client({ apiUrl: url, apiKey: process.env.TOKEN, callerOptions: { maxRetries: 0 }, defaultHeaders: { 'Idempotency-Key': `${key}-b` } });
    const first = await many.runs.createBatch(batch);
    assert.equal(new Set(first.map(({ run_id }) => run_id)).size, 3);
    assert.deepEqual((await many.runs.createBatch(batch)).map(({ run_id }) => run_id), first.map(({ run_id }) => run_id));
    assert.equal((await refused(many.runs.createBatch(batch.slice(1)))).status, 422);
  });

  test(`${line}: nothing of a batch starts when a part of it cannot`, within, async () => {
    const mark = crypto.randomUUID();
    const good = { assistantId: 'quick', input: ask('x'), metadata: { mark }, onCompletion: 'keep' };
    for (const [bad, want, field] of [
      [{ assistantId: 'nope', input: ask('x') }, 404, 'assistant'], [{ assistantId: 'quick', input: ask('x'), streamMode: 'nope' }, 422, '[1].stream_mode'],
      [{ assistantId: 'quick', input: { messages: [{ type: 'human', content: 7 }] } }, 422, '[1].input.messages[0].content'],
      [{ assistantId: 'quick', input: ask('x'), webhook: 'http://elsewhere.example' }, 422, 'webhook'],
    ]) {
      const got = await refused(c.runs.createBatch([good, bad]));
      assert.equal(got.status, want, got.message);
      assert.ok(got.message.includes(field), got.message);
    }
    const threads = await c.threads.search({ limit: 1000 });
    for (const { thread_id } of threads) {
      const runs = await c.runs.list(thread_id);
      assert.ok(runs.every(({ metadata }) => metadata.mark !== mark), 'a run was started');
    }
  });
}

test('several runs are cancelled at once', within, async () => {
  const c = client(lines['1.12']);
  const { thread_id } = await holding(c, 'many');
  const queued = await c.runs.create(thread_id, 'quick', { input: ask('x'), multitaskStrategy: 'enqueue' });
  const other = await holding(c, 'other');
  const [running] = (await c.runs.list(thread_id)).filter(({ status: s }) => s === 'running');
  for (const [options, want] of [
    [{ threadId: thread_id, runIds: [crypto.randomUUID()] }, 404], [{ runIds: [queued.run_id] }, 422], [{}, 422], [{ threadId: thread_id, runIds: ['x'] }, 422],
    [{ status: 'nope' }, 422], [{ threadId: crypto.randomUUID() }, 404], [{ threadId: other.thread_id, runIds: [queued.run_id] }, 404],
  ]) assert.equal((await refused(c.runs.cancelMany(options))).status, want, JSON.stringify(options));
  assert.deepEqual([await status(c, queued), await status(c, running)], ['pending', 'running'], 'nothing was cancelled');
  // What is over does not keep the others from being cancelled.
  await c.runs.cancelMany({ threadId: thread_id, runIds: [queued.run_id] });
  await c.runs.cancelMany({ threadId: thread_id, runIds: [queued.run_id, running.run_id] });
  await until(async () => (await status(c, running)) === 'interrupted');
  assert.equal(await status(c, queued), 'interrupted');
  assert.equal(await status(c, other), 'running', 'of another thread');
  await c.runs.cancelMany({ status: 'all' });
  await until(async () => (await status(c, other)) === 'interrupted');
  const admins = client(lines['1.12'], process.env.ADMIN);
  const mine = await holding(admins, 'admin');
  const theirs = await holding(c, 'theirs');
  await admins.runs.cancelMany({ status: 'running', action: 'rollback' });
  await until(async () => (await refused(status(admins, mine))).status === 404);
  assert.equal(await status(c, theirs), 'running', 'an admin cancels none but its own this way');
  release('theirs');
  for (const name of ['many', 'other', 'admin']) release(name);
});

test('threads are pruned', within, async () => {
  const c = client(lines['1.12']);
  const threads = await Promise.all([1, 2, 3].map(() => c.threads.create()));
  const [one, two, busy] = threads.map(({ thread_id }) => thread_id);
  for (const thread of [one, two]) await c.runs.wait(thread, 'quick', { input: ask('x') });
  const run = await holding(c, 'prune', { thread_id: busy });
  const { checkpoint } = (await c.threads.getHistory(one))[2];
  assert.equal((await refused(c.threads.prune([one, crypto.randomUUID()]))).status, 404);
  assert.equal((await refused(c.threads.prune([one, busy]))).status, 409);
  assert.equal((await refused(c.threads.prune([one], { strategy: 'nope' }))).status, 422);
  assert.equal((await refused(client(lines['1.12'], process.env.BEN).threads.prune([one]))).status, 404);
  assert.equal((await c.threads.getHistory(one)).length, 3, 'nothing was done');
  assert.deepEqual(await c.threads.prune([one, one], { strategy: 'keep_latest' }), { pruned_count: 1 });
  assert.equal((await c.threads.getHistory(one)).length, 1);
  assert.equal((await c.threads.getState(one)).values.messages.length, 2);
  assert.equal((await refused(c.threads.getState(one, checkpoint.checkpoint_id))).status, 404);
  assert.equal((await refused(c.runs.wait(one, 'quick', { input: ask('x'), checkpoint }))).status, 404);
  await c.runs.wait(one, 'quick', { input: ask('y') });
  assert.equal((await c.threads.getState(one)).values.messages.length, 4);
  assert.deepEqual(await c.threads.prune([one, two, one]), { pruned_count: 2 });
  for (const thread of [one, two]) assert.equal((await refused(c.threads.get(thread))).status, 404);
  await c.runs.cancel(busy, run.run_id, true);
  release('prune');
});

test('servers are told of the end', within, async (t) => {
  const told = [];
  let broken = 1;
  const server = http.createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = request.headers;
      assert.equal(signature, `v1,${createHmac('sha256', process.env.SECRET).update(`${id}.${at}.${body}`).digest('base64')}`);
      const fails = request.url === '/broken' && broken-- > 0;
      if (!fails) told.push({ path: request.url, ...JSON.parse(body) });
      response.writeHead(fails ? 503 : 204).end();
    });
  });
  await new Promise((resolve) => server.listen(Number(process.env.HOOK), '127.0.0.1', resolve));
  t.after(() => { server.close(); server.closeAllConnections(); });
  const c = client(lines['2.0.0']);
  const hook = (path) => `http://127.0.0.1:${process.env.HOOK}/${path}`;
  const { thread_id } = await c.threads.create();
  for (const webhook of ['http://127.0.0.1:1/', 'https://elsewhere.example/', 'x', `http://ann:Tr0ub4dor@127.0.0.1:${process.env.HOOK}/`]) {
    assert.equal((await refused(c.runs.create(thread_id, 'quick', { input: ask('x'), webhook }))).status, 422, webhook);
  }
  const runs = {};
  for (const path of ['done', 'broken']) {
    runs[path] = await c.runs.create(thread_id, 'quick', { input: ask(path), webhook: hook(path), metadata: { path }, multitaskStrategy: 'enqueue' });
  }
  const held = await holding(c, 'hook', { webhook: hook('cancelled') });
  await c.runs.cancel(held.thread_id, held.run_id, true);
  release('hook');
  await until(() => told.length === 3);
  for (const [path, want] of [['done', 'success'], ['broken', 'success'], ['cancelled', 'interrupted']]) {
    const [message, ...more] = told.filter((m) => m.path === `/${path}`);
    assert.equal(more.length, 0);
    const run = runs[path] ?? held;
    assert.equal(message.status, want);
    const { kwargs, ...shown } = await c.runs.get(run.thread_id, run.run_id);
    assert.deepEqual(Object.fromEntries(Object.keys(shown).map((name) => [name, message[name]])), shown, 'the run as it is shown');
    assert.equal(message.values.messages[0].type, 'human');
    assert.deepEqual(message.error?.error, path === 'cancelled' ? 'cancelled' : undefined);
  }
});
