// Calls that wait for a person, as the published clients see them.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { test } from 'node:test';

import { ask, client, collect, lines, of, refused, url, within } from './service.mjs';

const folder = (name) => `${process.env.PROJECT}/${name}`;

for (const [line, Client] of Object.entries(lines)) {
  const ann = client(Client);
  const admin = client(Client, process.env.ADMIN);
  const fresh = async (c, name, options = {}) => {
    mkdirSync(folder(name), { recursive: true });
    const { thread_id } = await c.threads.create();
    const events = await collect(c.runs.stream(thread_id, 'core', { input: ask(`delete the folder ${name}`), streamMode: ['values', 'updates'], ...options }));
    return { thread_id, events, interrupts: of(events, 'updates').at(-1).__interrupt__ };
  };

  test(`${line}: an interrupt is approved`, within, async () => {
    const { thread_id, events, interrupts } = await fresh(admin, 'one');
    assert.deepEqual(events.map(({ event }) => event), ['metadata', 'values', 'updates', 'values', 'updates', 'values', 'end']);
    assert.deepEqual(of(events, 'values').at(-1), { __interrupt__: interrupts });
    const [{ id, value: { action_requests: [action], review_configs: [review] } }] = interrupts;
    assert.deepEqual([action.name, action.args], ['run_command', { command: 'rm -r -- one' }]);
    assert.match(action.description, /deletes a folder/);
    assert.deepEqual(review, { action_name: 'run_command', allowed_decisions: ['approve', 'edit', 'reject'] });
    const thread = await admin.threads.get(thread_id);
    assert.equal(thread.status, 'interrupted');
    assert.equal(Object.values(thread.interrupts)[0][0].id, id);
    const state = await admin.threads.getState(thread_id);
    assert.deepEqual(state.next, ['tools']);
    assert.deepEqual(state.tasks[0].interrupts, interrupts);
    const [run] = await admin.runs.list(thread_id);
    assert.equal(run.status, 'interrupted');
    assert.ok(existsSync(folder('one')));

    const resumed = await collect(admin.runs.stream(thread_id, 'core', { command: { resume: { decisions: [{ type: 'approve' }] } }, streamMode: ['values', 'updates'] }));
    assert.deepEqual(resumed.map(({ event }) => event), ['metadata', 'values', 'updates', 'values', 'updates', 'values', 'end']);
    assert.deepEqual(of(resumed, 'values')[0], of(events, 'values').at(-2), 'it begins with the state');
    assert.ok(resumed.every(({ id }, i) => !i || Number(id) > Number(resumed[i - 1].id)));
    assert.deepEqual(of(resumed, 'values').at(-1).messages.map(({ type }) => type), ['human', 'ai', 'tool', 'ai']);
    assert.ok(!existsSync(folder('one')));
    assert.equal((await admin.threads.get(thread_id)).status, 'idle');
    assert.equal((await refused(admin.runs.wait(thread_id, 'core', { command: { resume: true } }))).status, 409, 'nothing waits any more');

    // What was told is told again in the same way.
    const all = await collect(admin.runs.joinStream(thread_id, run.run_id, { lastEventId: '-1', streamMode: ['values', 'updates'] }));
    assert.deepEqual(all, [...events, ...resumed]);
  });

  test(`${line}: waiting for an interrupt, and other ways to answer`, within, async () => {
    for (const [i, [resume, gone, said]] of Object.entries([
      [true, true], ['no', false, /rejected/], [{ type: 'accept' }, true], [[{ type: 'ignore' }], false, /rejected/],
      [{ decisions: [{ type: 'reject', message: 'not this one' }] }, false, /not this one/],
      [{ decisions: [{ type: 'edit', edited_action: { name: 'run_command', args: { command: 'rm -r -- other' } } }] }, false],
    ])) {
      const name = `two${i}`;
      mkdirSync(folder(name), { recursive: true });
      mkdirSync(folder('other'), { recursive: true });
      const { thread_id } = await admin.threads.create();
      const waits = await admin.runs.wait(thread_id, 'core', { input: ask(`delete the folder ${name}`) }, { raiseError: false });
      assert.equal(waits.__interrupt__.length, 1);
      const { messages } = await admin.runs.wait(thread_id, 'core', { command: { resume } });
      assert.equal(existsSync(folder(name)), !gone, JSON.stringify(resume));
      if (said) assert.match(messages.at(-2).content, said);
      if (resume.decisions?.[0].type === 'edit') {
        assert.ok(!existsSync(folder('other')));
        assert.match(messages.at(-2).content, /changed the arguments/);
      }
    }
  });

  test(`${line}: marked as resolved, as chat UIs call it`, within, async () => {
    const { thread_id } = await fresh(admin, 'resolved');
    const events = await collect(admin.runs.stream(thread_id, 'core', { command: { goto: '__end__' }, streamMode: ['values'] }));
    assert.equal(events.at(-1).event, 'end');
    assert.ok(!of(events, 'values').at(-1).__interrupt__);
    assert.ok(existsSync(folder('resolved')), 'the call was not made');
    const state = await admin.threads.getState(thread_id);
    assert.deepEqual(state.tasks.flatMap(({ interrupts }) => interrupts), []);
    assert.notEqual((await admin.threads.get(thread_id)).status, 'interrupted');
    const { messages } = await admin.runs.wait(thread_id, 'core', { input: ask('tell me about yourself') });
    assert.match(messages.at(-1).content, /demo model/, 'the thread goes on');
    assert.equal((await refused(admin.runs.wait(thread_id, 'core', { command: { goto: '__end__' } }))).status, 422, 'nothing waits');
  });

  test(`${line}: by the id of the interrupt`, within, async () => {
    const { thread_id, interrupts } = await fresh(admin, 'three');
    assert.equal((await refused(admin.runs.wait(thread_id, 'core', { command: { resume: { [interrupts[0].id]: { decisions: [] } } } }))).status, 422);
    assert.equal((await refused(admin.runs.wait(thread_id, 'core', { command: { resume: { colour: 'red' } } }))).status, 422);
    await admin.runs.wait(thread_id, 'core', { command: { resume: { [interrupts[0].id]: { decisions: [{ type: 'approve' }] } } } });
    assert.ok(!existsSync(folder('three')));
  });

  test(`${line}: several calls at once`, within, async () => {
    mkdirSync(folder('four'), { recursive: true });
    mkdirSync(folder('five'), { recursive: true });
    const { thread_id } = await admin.threads.create();
    const events = await collect(admin.runs.stream(thread_id, 'core', { input: ask('delete the folder four and delete the folder five'), streamMode: 'values' }));
    const [{ value }, ...more] = of(events, 'values').at(-1).__interrupt__;
    assert.equal(more.length, 0);
    if (value.action_requests.length === 2) {
      assert.equal((await refused(admin.runs.wait(thread_id, 'core', { command: { resume: { decisions: [{ type: 'approve' }] } } }))).status, 422);
    }
    const decisions = value.action_requests.map((_, i) => ({ type: i ? 'reject' : 'approve' }));
    await admin.runs.wait(thread_id, 'core', { command: { resume: { decisions } } });
    assert.ok(!existsSync(folder('four')));
  });

  test(`${line}: who may not decide is told so, and an admin decides`, within, async () => {
    const { thread_id, interrupts } = await fresh(ann, 'six');
    const got = await refused(ann.runs.wait(thread_id, 'core', { command: { resume: { decisions: [{ type: 'approve' }] } } }));
    assert.equal(got.status, 403);
    assert.match(got.message, /approve-write/);
    assert.equal((await ann.threads.get(thread_id)).status, 'interrupted');
    // The API of approvals and this one see each other.
    const { approval_id, digest } = interrupts[0].value.action_requests[0];
    const response = await fetch(`${url}/approvals/${approval_id}`, {
      method: 'POST', headers: { 'x-api-key': process.env.ADMIN, 'content-type': 'application/json' }, body: JSON.stringify({ decision: 'approve', digest }),
    });
    assert.equal(response.status, 200);
    const [run] = await ann.runs.list(thread_id);
    const { messages } = await ann.runs.join(thread_id, run.run_id).then((v) => (v.messages ? v : ann.runs.join(thread_id, run.run_id)));
    assert.equal(messages.at(-1).type, 'ai');
    assert.ok(!existsSync(folder('six')));
  });

  test(`${line}: the state is edited while a call waits`, within, async () => {
    mkdirSync(folder('eight'), { recursive: true });
    const { thread_id, interrupts } = await fresh(admin, 'nine');
    const { values: { messages } } = await admin.threads.getState(thread_id);
    const call = { ...messages.at(-1).tool_calls[0], args: { command: 'rm -r -- eight' } };
    const { checkpoint } = await admin.threads.updateState(thread_id, { values: { messages: [{ ...messages.at(-1), tool_calls: [call] }] } });
    const state = await admin.threads.getState(thread_id);
    assert.equal(state.checkpoint.checkpoint_id, checkpoint.checkpoint_id);
    assert.deepEqual([state.next, state.tasks[0].interrupts], [['tools'], []]);
    assert.equal((await refused(admin.runs.wait(thread_id, 'core', { command: { resume: { [interrupts[0].id]: true } } }))).status, 409, 'the old call is not to be approved');
    const events = await collect(admin.runs.stream(thread_id, 'core', { input: null, streamMode: 'updates' }));
    const [{ value }] = of(events, 'updates').at(-1).__interrupt__;
    assert.deepEqual(value.action_requests.map(({ args }) => args.command), ['rm -r -- eight']);
    await admin.runs.wait(thread_id, 'core', { command: { resume: true } });
    assert.deepEqual([existsSync(folder('eight')), existsSync(folder('nine'))], [false, true]);
    // Words instead of an answer.
    const other = await fresh(admin, 'ten');
    await admin.threads.updateState(other.thread_id, { values: ask('Leave it. How long has this host been up?') });
    const after = await admin.runs.wait(other.thread_id, 'core', { input: null });
    assert.ok(existsSync(folder('ten')));
    assert.equal(after.messages.at(-1).type, 'ai');
  });

  test(`${line}: sub-agents' calls wait too`, within, async () => {
    mkdirSync(folder('seven'), { recursive: true });
    const { thread_id } = await admin.threads.create();
    const events = await collect(admin.runs.stream(thread_id, 'agent', { input: ask('delete the folder seven'), streamMode: ['updates'], streamSubgraphs: true }));
    assert.equal(of(events, 'updates').at(-1).__interrupt__.length, 1);
    const { tasks } = await admin.threads.getState(thread_id);
    assert.deepEqual(tasks[0].interrupts, of(events, 'updates').at(-1).__interrupt__);
    await admin.runs.wait(thread_id, 'agent', { command: { resume: { decisions: [{ type: 'approve' }] } } });
    assert.ok(!existsSync(folder('seven')));
  });

  test(`${line}: stops before and after nodes`, within, async () => {
    const { thread_id } = await ann.threads.create();
    const options = { streamMode: ['values', 'updates'] };
    const events = await collect(ann.runs.stream(thread_id, 'core', { input: ask('How long has this host been up?'), interruptBefore: ['tools'], ...options }));
    assert.deepEqual(events.slice(-3).map(({ event, data }) => [event, data]), [['updates', { __interrupt__: [] }], ['values', { __interrupt__: [] }], ['end', null]]);
    assert.deepEqual((await ann.threads.getState(thread_id)).next, ['tools']);
    assert.equal((await ann.threads.get(thread_id)).status, 'interrupted');
    const rest = await collect(ann.runs.stream(thread_id, 'core', { input: null, ...options }));
    assert.deepEqual(of(rest, 'updates').map((u) => Object.keys(u)[0]), ['tools', 'agent']);
    assert.deepEqual((await ann.threads.getState(thread_id)).next, []);
  });
}
