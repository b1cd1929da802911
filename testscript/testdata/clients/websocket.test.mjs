// A published server and client of WebSockets, through all stages and without them: text is redacted
// message by message, all else comes as it was sent.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { WebSocket, WebSocketServer } from 'ws';

const token = readFileSync(process.env.HOME + '/.svc/token', 'utf8').trim();
const within = { timeout: 60_000 }; // for what never comes
const through = `ws://127.0.0.1:${process.env.SITE}/chat`;
const direct = `ws://127.0.0.1:${process.env.UPSTREAM}/chat`;

let server;
before(async () => {
  server = new WebSocketServer({ port: Number(process.env.UPSTREAM), perMessageDeflate: { threshold: 0 }, handleProtocols: (all) => [...all][0] });
  server.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => {
      const message = String(data);
      if (isBinary) return socket.send(data, { binary: true });
      if (message === 'fragments') {
        socket.send('the password is Hun', { fin: false });
        socket.ping('between');
        return socket.send('ter2!x, she said', { fin: true });
      }
      if (message === 'ping') return socket.ping('are you there');
      if (message === 'close') return socket.close(4001, 'as you wish');
      if (message === 'long') return socket.send('x'.repeat(2 << 20));
      socket.send(message);
    });
    socket.on('pong', (data) => socket.send('pong ' + data));
  });
  await once(server, 'listening');
});
after(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

/** Opens a WebSocket that collects what comes. */
async function open(url) {
  const socket = new WebSocket(url, ['chat.v1'], { headers: { Authorization: `Bearer ${token}` } });
  const got = [];
  let wake = () => {};
  socket.on('message', (data, isBinary) => { got.push(isBinary ? data : String(data)); wake(); });
  await once(socket, 'open');
  const next = async () => {
    while (got.length === 0) await new Promise((resolve) => (wake = resolve));
    return got.shift();
  };
  return { socket, next, ask: (message) => { socket.send(message); return next(); } };
}

test('texts are redacted one by one', within, async () => {
  const { socket, ask } = await open(through);
  assert.equal(socket.protocol, 'chat.v1');
  assert.equal(socket.extensions, '');
  for (const [message, want] of [
    ['hello – 🙂', 'hello – 🙂'],
    ['', ''],
    ['password: Hunter2!x', 'password: REDACTED'],
    ['{"delta":"the key AKIAQ3EGRIL2VN7UTXJ5","password":"x","n":1}', '{"delta":"the key REDACTED","password":"REDACTED","n":1}'],
    ['a'.repeat(100_000) + ' password: Hunter2!x', 'a'.repeat(100_000) + ' password: REDACTED'],
    ['fragments', 'the password is REDACTED, she said'],
  ]) {
    assert.equal(await ask(message), want);
  }
  socket.close();
  await once(socket, 'close');
});

test('without the stages nothing is taken, and messages are compressed', within, async () => {
  const { socket, ask } = await open(direct);
  assert.match(socket.extensions, /permessage-deflate/);
  assert.equal(await ask('password: Hunter2!x'), 'password: Hunter2!x');
  socket.close();
  await once(socket, 'close');
});

test('binary messages, pings, pongs and the end come as they are', within, async () => {
  const { socket, ask } = await open(through);
  const bytes = Buffer.from('password: Hunter2!x\0\xff', 'latin1');
  assert.deepEqual(await ask(bytes), bytes);
  const pinged = once(socket, 'ping');
  assert.equal(await ask('ping'), 'pong are you there');
  assert.equal(String((await pinged)[0]), 'are you there');
  socket.ping('and you');
  assert.equal(String((await once(socket, 'pong'))[0]), 'and you');
  socket.send('close');
  const [code, reason] = await once(socket, 'close');
  assert.deepEqual([code, String(reason)], [4001, 'as you wish']);
});

test('a client that leaves is told of at the server', within, async () => {
  const { socket } = await open(through);
  const told = new Promise((resolve) => [...server.clients].at(-1).on('close', (code, reason) => resolve([code, String(reason)])));
  socket.close(4002, 'enough');
  assert.deepEqual(await told, [4002, 'enough']);
});

test('a message that is too long ends it with a reason', within, async () => {
  const { socket } = await open(through);
  socket.send('long');
  const [code, reason] = await once(socket, 'close');
  assert.equal(code, 1009);
  assert.match(String(reason), /too long/);
});
