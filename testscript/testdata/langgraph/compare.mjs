// Prints where the shapes of our answers differ from those of the reference server: members that one has and
// the other has not, and members of another type.
//
//   node compare.mjs OURS THEIRS     with the token in $TOKEN
//
// THEIRS is started with npx langgraphjs dev in a folder with agent.mjs and langgraph.json. Both
// are asked the same; what graphs answer differs, and is not looked at.

const [ours, theirs] = process.argv.slice(2);
if (!theirs) {
  console.error('usage: TOKEN=svc_… node compare.mjs http://OURS http://THEIRS');
  process.exit(2);
}

const ask = (content) => ({ messages: [{ role: 'user', content }] });
const nobody = '00000000-0000-4000-8000-000000000000';
const graph = 'agent';

/** A server, and what it answered to which call. */
function server(base) {
  const shapes = new Map();
  const call = async (name, method, path, body) => {
    const response = await fetch(base + path, {
      method, headers: { 'x-api-key': process.env.TOKEN ?? '', ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    let value;
    if (type.startsWith('text/event-stream')) value = events(text);
    else try { value = JSON.parse(text); } catch { value = text; }
    const failed = response.status >= 400;
    shapes.set(name, { ...(name && { [`(status ${response.status})`]: 'here' }), ...(failed ? {} : shape(value)) });
    for (const header of ['content-location', 'location', 'x-pagination-total', 'x-pagination-next']) {
      if (response.headers.has(header)) shapes.get(name)[`(header ${header})`] = 'here';
    }
    return value;
  };
  return { call, shapes };
}

/** The data of a stream's events, by their names. */
function events(text) {
  const all = {};
  for (const block of text.split('\n\n')) {
    const name = /^event: ?(.*)$/m.exec(block)?.[1];
    const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join('\n');
    if (name) (all[name] ??= []).push(data ? JSON.parse(data) : null);
  }
  return all;
}

/** The types of all members, by their paths. Elements of an array are one, and so are members named by ids. */
function shape(value, path = '', all = {}) {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  all[path || '(all)'] = [...new Set([...(all[path || '(all)']?.split('|') ?? []), type])].sort().join('|');
  if (type === 'array') for (const v of value) shape(v, `${path}[]`, all);
  if (type === 'object') for (const [name, v] of Object.entries(value)) shape(v, `${path}.${/^[0-9a-f]{8}-/.test(name) ? '<id>' : name}`, all);
  return all;
}

async function talk({ call }) {
  const until = async (name, path, done) => {
    for (;;) {
      const value = await call(name, 'GET', path);
      if (done(value)) return value;
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  };
  const over = ({ status }) => !['pending', 'running'].includes(status);
  await call('info', 'GET', '/info');
  await call('ok', 'GET', '/ok');
  await call('assistants.search', 'POST', '/assistants/search', {});
  await call('assistants.count', 'POST', '/assistants/count', {});
  const made = await call('assistants.create', 'POST', '/assistants', { graph_id: graph, name: 'one', metadata: { a: 1 } });
  const assistant = `/assistants/${made.assistant_id}`;
  await call('assistants.get', 'GET', assistant);
  await call('assistants.patch', 'PATCH', assistant, { name: 'two' });
  await call('assistants.versions', 'POST', `${assistant}/versions`, {});
  await call('assistants.latest', 'POST', `${assistant}/latest`, { version: 1 });
  await call('assistants.graph', 'GET', `${assistant}/graph`);
  await call('assistants.schemas', 'GET', `${assistant}/schemas`);
  await call('assistants.subgraphs', 'GET', `${assistant}/subgraphs`);
  await call('assistants.create again', 'POST', '/assistants', { graph_id: graph, assistant_id: made.assistant_id });
  await call('assistants.delete', 'DELETE', assistant);
  await call('assistants.get none', 'GET', `/assistants/${nobody}`);

  const { thread_id } = await call('threads.create', 'POST', '/threads', { metadata: { a: 1 } });
  const thread = `/threads/${thread_id}`;
  await call('threads.create again', 'POST', '/threads', { thread_id });
  await call('threads.get empty', 'GET', thread);
  await call('state of an empty thread', 'GET', `${thread}/state`);
  const run = await call('runs.create', 'POST', `${thread}/runs`, { assistant_id: graph, input: ask('hello') });
  await until('runs.get', `${thread}/runs/${run.run_id}`, over);
  await call('runs.list', 'GET', `${thread}/runs`);
  await call('runs.wait', 'POST', `${thread}/runs/wait`, { assistant_id: graph, input: ask('hello') });
  await until('threads.get', thread, ({ status }) => status !== 'busy');
  await call('threads.search', 'POST', '/threads/search', { metadata: { a: 1 }, limit: 1 });
  await call('threads.count', 'POST', '/threads/count', {});
  await call('threads.patch', 'PATCH', thread, { metadata: { b: 2 } });
  const state = await call('state', 'GET', `${thread}/state`);
  await call('state at', 'GET', `${thread}/state/${state.checkpoint.checkpoint_id}`);
  await call('state.checkpoint', 'POST', `${thread}/state/checkpoint`, { checkpoint: state.checkpoint });
  await call('history', 'POST', `${thread}/history`, { limit: 5 });
  await call('state.update', 'POST', `${thread}/state`, { values: ask('changed') });
  const modes = ['values', 'updates', 'messages-tuple', 'custom', 'debug', 'tasks', 'checkpoints', 'events'];
  for (const stream_mode of modes) {
    await call(`stream ${stream_mode}`, 'POST', `${thread}/runs/stream`, { assistant_id: graph, input: ask('hello'), stream_mode: [stream_mode] });
    await until('threads.get', thread, ({ status }) => status !== 'busy');
  }
  await call('stream messages', 'POST', `${thread}/runs/stream`, { assistant_id: graph, input: ask('hello'), stream_mode: ['messages'] });
  await until('threads.get', thread, ({ status }) => status !== 'busy');
  await call('stateless stream', 'POST', '/runs/stream', { assistant_id: graph, input: ask('hello'), stream_mode: ['values'] });
  await call('stateless wait', 'POST', '/runs/wait', { assistant_id: graph, input: ask('hello') });
  await call('batch', 'POST', '/runs/batch', [{ assistant_id: graph, input: ask('hello') }]);
  await call('join', 'GET', `${thread}/runs/${run.run_id}/join`);
  await call('copy', 'POST', `${thread}/copy`);
  await call('runs.delete', 'DELETE', `${thread}/runs/${run.run_id}`);

  await call('store.put', 'PUT', '/store/items', { namespace: ['a', 'b'], key: 'k', value: { n: 1 } });
  await call('store.get', 'GET', '/store/items?namespace=a.b&key=k');
  await call('store.search', 'POST', '/store/items/search', { namespace_prefix: ['a'] });
  await call('store.namespaces', 'POST', '/store/namespaces', {});
  await call('store.delete', 'DELETE', '/store/items', { namespace: ['a', 'b'], key: 'k' });
  await call('store.get none', 'GET', '/store/items?namespace=a.b&key=k');

  await call('threads.get none', 'GET', `/threads/${nobody}`);
  await call('runs.get none', 'GET', `${thread}/runs/${nobody}`);
  await call('runs.create on no thread', 'POST', `/threads/${nobody}/runs`, { assistant_id: graph, input: ask('x') });
  await call('runs.create of nothing', 'POST', `${thread}/runs`, { input: ask('x') });
  await call('runs.create of no assistant', 'POST', `${thread}/runs`, { assistant_id: nobody, input: ask('x') });
  await call('threads.search of no limit', 'POST', '/threads/search', { limit: 'x' });
  await call('threads.delete', 'DELETE', thread);
}

const [mine, other] = [server(ours), server(theirs)];
await talk(mine);
await talk(other);
for (const [name, want] of other.shapes) {
  const got = mine.shapes.get(name) ?? {};
  const lines = [];
  for (const path of [...new Set([...Object.keys(want), ...Object.keys(got)])].sort()) {
    const [below] = /^.+(?=[.[])/.exec(path) ?? [''];
    const told = ['(', ''].includes(path[0] ?? '') || (below === '' || (below in got) === (below in want));
    if (got[path] !== want[path] && told) lines.push(`  ${path}: ours ${got[path] ?? 'has none'}, theirs ${want[path] ?? 'has none'}`);
  }
  if (lines.length) console.log([name, ...lines].join('\n'));
}
