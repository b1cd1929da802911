// A foreign server whose answers a test writes, and what two ways to it must have in common.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Serves answer(request, response, body) on a port of this host. */
export async function serve(port, answer) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    await answer(request, response, body && JSON.parse(body));
  });
  server.listen(port);
  await once(server, 'listening');
  return server;
}

export function json(response, status, value) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** An answer of type text/event-stream, on the wire as one kind of server writes it. */
export class EventStream {
  constructor(response, { newline = '\n', bytes = Infinity, ascii = false, headers = {} } = {}) {
    Object.assign(this, { response, newline, bytes, ascii });
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', ...headers });
  }

  /** Writes an event: its lines in this order, data as JSON. */
  async send(fields) {
    const lines = Object.entries(fields).map(([name, value]) => name + ': ' + (name === 'data' ? this.encode(value) : value));
    await this.write(lines.map((line) => line + this.newline).join('') + this.newline);
  }

  /** A heartbeat is a comment in front of the next event. */
  async heartbeat() {
    await this.write(': hb' + this.newline);
  }

  encode(value) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return this.ascii ? text.replace(/[^\0-~]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) : text;
  }

  async write(text) {
    for (let rest = Buffer.from(text); rest.length > 0; rest = rest.subarray(this.bytes)) {
      await new Promise((done) => this.response.write(rest.subarray(0, this.bytes), done));
    }
  }

  end() {
    this.response.end();
  }

  /** The server dies: no last chunk, no end. */
  die() {
    this.response.destroy();
  }
}

/** What a client has received so far; a server can wait for it. */
export class Receipt {
  events = [];
  #wake = () => {};

  take(event) {
    this.events.push(event);
    this.#wake();
  }

  /** Returns once the client has n events. A stage that holds one back makes this wait for ever. */
  async until(n) {
    while (this.events.length < n) await new Promise((wake) => (this.#wake = wake));
  }
}

/** A text of which no letter may begin a secret, also of those that are known: no event of it waits. */
export const timely = 'Many move over a mountain. I am at 12 ☁ and 7 🙂.';

/** How a text is cut into events, and how these are written. */
export const cuts = [
  { name: 'by character', pieces: (text) => [...text] },
  { name: 'by three characters', pieces: (text) => text.match(/[^]{1,3}/gu), newline: '\r\n' },
  { name: 'by word', pieces: (text) => text.match(/\s*\S+/g) },
  { name: 'by seven, in writes of seven bytes', pieces: (text) => text.match(/[^]{1,7}/gu), bytes: 7, ascii: true, newline: '\r\n' },
  { name: 'not at all, in writes of seven bytes', pieces: (text) => [text], bytes: 7, ascii: true },
];

/**
 * Compares the events that came through the gateway with those that came directly. split takes the
 * texts that go on from event to event out of an event: { rest, texts: { <which>: piece } }. The
 * texts joined and all the rest must be the same, but for the secrets.
 */
export function assertOnlySecretsGone(through, direct, secrets, split) {
  const plain = (value) => JSON.parse(JSON.stringify(value)); // no id and an id undefined are one
  const clean = (value) => JSON.parse(secrets.reduce((text, s) => text.replaceAll(s, 'REDACTED'), JSON.stringify(value)));
  const joined = (events) => {
    const texts = {};
    for (const event of events) {
      for (const [which, piece] of Object.entries(split(event).texts)) texts[which] = (texts[which] ?? '') + piece;
    }
    return texts;
  };
  assert.ok(direct.length > 3, 'the server sent next to nothing');
  assert.deepEqual(plain(through.map((e) => split(e).rest)), direct.map((e) => clean(split(e).rest)));
  assert.deepEqual(joined(through), clean(joined(direct)));
  const seen = JSON.stringify([joined(direct), direct]);
  for (const secret of secrets) assert.ok(seen.includes(secret), 'the server did not send ' + secret);
}

/** The error that an action ends with. */
export async function failure(action) {
  try {
    await action();
  } catch (error) {
    return error;
  }
  assert.fail('nothing failed');
}
