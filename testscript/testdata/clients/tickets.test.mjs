// The WebSocket of a thread as a browser opens it: with a ticket and without headers. What lets nobody in, and
// what ends a connection that was let in.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';

import { WebSocket } from 'ws';

const within = { timeout: 60_000 };
const { SITE, TOKEN, OTHER, ADMIN } = process.env;
const site = `127.0.0.1:${SITE}`;

/** The answer to a request with a token. */
async function request(token, path, body) {
  const answer = await fetch(`http://${site}${path}`, {
    method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body),
  });
  assert.equal(answer.status, 200, path);
  return answer.json();
}
const ticketOf = async (token) => (await request(token, '/auth/ticket')).ticket;
const threadOf = async (token) => (await request(token, '/threads', {})).thread_id;

/** Tries to open the WebSocket of a thread: the connection, or the status that it was answered with. */
async function open(thread, ticket, headers = {}) {
  const socket = new WebSocket(`ws://${site}/threads/${thread}/stream/events${ticket === undefined ? '' : `?ticket=${ticket}`}`, { headers });
  const refused = once(socket, 'unexpected-response').then(([asked, { statusCode }]) => {
    asked.destroy();
    return statusCode;
  });
  socket.on('error', () => {}); // it comes with the answer
  const status = await Promise.race([once(socket, 'open'), refused]);
  return typeof status === 'number' ? { status } : { socket };
}

/** The answer to a command. */
async function command(socket, method, params) {
  const answered = (async () => {
    for (;;) {
      const [data] = await once(socket, 'message');
      const message = JSON.parse(data);
      if (message.type !== 'event') return message;
    }
  })();
  socket.send(JSON.stringify({ id: 1, method, params }));
  return answered;
}

test('a ticket opens one WebSocket', within, async () => {
  const thread = await threadOf(TOKEN);
  const ticket = await ticketOf(TOKEN);
  const { socket } = await open(thread, ticket);
  const answer = await command(socket, 'subscription.subscribe', { channels: ['lifecycle'] });
  assert.equal(answer.type, 'success', JSON.stringify(answer));
  socket.ping('there?');
  assert.equal(String((await once(socket, 'pong'))[0]), 'there?');
  assert.equal((await open(thread, ticket)).status, 401, 'the same ticket again');
  socket.close();
  await once(socket, 'close');
});

test('what lets nobody in', within, async (t) => {
  const thread = await threadOf(TOKEN);
  const ticket = await ticketOf(TOKEN);
  for (const [what, sent] of [['nothing', undefined], ['an empty one', ''], ['another word', 'svct_AAAA'], ['a changed one', `${ticket.slice(0, -4)}AAAA`], ['a token', TOKEN]]) {
    await t.test(what, async () => assert.equal((await open(thread, sent)).status, 401));
  }
  await t.test('a ticket with a request that opens none', async () => {
    const answer = await fetch(`http://${site}/threads/${thread}?ticket=${await ticketOf(TOKEN)}`);
    assert.equal(answer.status, 401);
  });
});

test('a page of another origin has a ticket, and no cookie', within, async () => {
  const thread = await threadOf(TOKEN);
  const origin = { Origin: 'https://other.example' };
  assert.equal((await open(thread, undefined, origin)).status, 401);
  const login = await fetch(`http://${site}/auth/login`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', Origin: `http://${site}` }, body: JSON.stringify({ token: TOKEN }),
  });
  const cookie = login.headers.getSetCookie().map((line) => line.split(';')[0]).join('; ');
  assert.notEqual(cookie, '', `the login answered ${login.status}`);
  assert.equal((await open(thread, undefined, { Cookie: cookie, ...origin })).status, 403, 'with a cookie');
  for (const headers of [{ Cookie: cookie, Origin: `http://${site}` }, undefined]) {
    const { socket } = await open(thread, headers ? undefined : await ticketOf(TOKEN), headers ?? origin);
    socket.close();
    await once(socket, 'close');
  }
});

test("somebody else's thread is not there", within, async () => {
  const { socket } = await open(await threadOf(TOKEN), await ticketOf(OTHER));
  assert.equal((await once(socket, 'close'))[0], 4404);
  const made = await open(randomUUID(), await ticketOf(OTHER)); // a command may make it
  assert.equal(made.socket.readyState, WebSocket.OPEN);
  made.socket.close();
});

test('a credential that ends ends its connections', within, async () => {
  const { socket } = await open(await threadOf(OTHER), await ticketOf(OTHER));
  const closed = once(socket, 'close');
  const answer = await fetch(`http://${site}/auth/users/bob/tokens`, { method: 'DELETE', headers: { Authorization: `Bearer ${ADMIN}` } });
  assert.ok(answer.ok, `the revocation answered ${answer.status}`);
  assert.equal((await closed)[0], 4403);
});
