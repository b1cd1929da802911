// A language model that does as it is told by the last question: "hold NAME" holds an answer back until the
// test lets it go, "delete the folder X" asks for a dangerous call, "delegate TEXT" asks another agent, and
// everything else is repeated word by word.

import http from 'node:http';

const held = new Map();

/** The promise of a name, and how it is kept. */
function hold(name) {
  if (!held.has(name)) held.set(name, Promise.withResolvers ? Promise.withResolvers() : resolvers());
  return held.get(name);
}

function resolvers() {
  const all = {};
  all.promise = new Promise((resolve) => { all.resolve = resolve; });
  return all;
}

/** Lets an answer go on that holds back, or will. */
export const release = (name) => hold(name).resolve();

/** Serves the model on the port that the service asks. */
export async function serveModel(port = process.env.MODEL) {
  const server = http.createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => answer(JSON.parse(Buffer.concat(pieces)), response).catch(() => response.destroy()));
  });
  await new Promise((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
  return { close: () => { server.close(); server.closeAllConnections(); } };
}

async function answer({ messages, tools = [] }, response) {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = words(messages[asked].content);
  const answered = messages.slice(asked + 1).some(({ role }) => role === 'tool');
  const can = (name) => tools.some((tool) => tool.function.name === name);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const folder = /delete the folder (\S+)/.exec(question)?.[1];
  if (folder && !answered && can('run_command')) return call(response, 'run_command', { command: `rm -r -- ${folder}` });
  if (question.startsWith('delegate ') && !answered && can('delegate')) return call(response, 'delegate', { agent: 'core', task: question.slice(9) });
  if (answered) return say(response, ['done']);
  if (!question.startsWith('hold ')) return say(response, question.split(/(?<= )/));
  piece(response, { content: 'one moment ' });
  await hold(question.slice(5)).promise;
  return say(response, ['now']);
}

const words = (content) => (typeof content === 'string' ? content : content.map(({ text }) => text).join(''));

function piece(response, delta, finish = null) {
  response.write(`data: ${JSON.stringify({ id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
}

function say(response, pieces) {
  for (const content of pieces) piece(response, { content });
  piece(response, {}, 'stop');
  response.end('data: [DONE]\n\n');
}

let calls = 0;

function call(response, name, args) {
  calls += 1;
  piece(response, { tool_calls: [{ index: 0, id: `call_${calls}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }] });
  piece(response, {}, 'tool_calls');
  response.end('data: [DONE]\n\n');
}
