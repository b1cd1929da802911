// What the tests of the service with the published clients share.

import { setTimeout } from 'node:timers/promises';

import { Client as Client2 } from '@langchain/langgraph-sdk';
import { Client as Client112 } from 'langgraph-sdk-1.12';

export const url = `http://127.0.0.1:${process.env.SITE}`;
export const within = { timeout: 120_000 };

/** Both lines of the published client that are in use. */
export const lines = { '2.0.0': Client2, '1.12': Client112 };

/** A client with nothing but an address and a token. */
export const client = (Client, token = process.env.TOKEN) => new Client({ apiUrl: url, apiKey: token, callerOptions: { maxRetries: 0 } });

export const ask = (content) => ({ messages: [{ role: 'user', content }] });

export async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The events of one kind, their data. */
export const of = (events, kind) => events.filter(({ event }) => event === kind).map(({ data }) => data);

export const text = (messages) => messages.map(({ content }) => content).join('');

/** Waits for a condition. */
export async function until(condition) {
  for (;;) {
    const value = await condition();
    if (value) return value;
    await setTimeout(20);
  }
}

/** The status that a promise was refused with. */
export async function refused(promise) {
  try {
    await promise;
  } catch (e) {
    return { status: e.status ?? Number(/HTTP (\d+)/.exec(e.message)?.[1]), message: e.message };
  }
  return { status: 200, message: '' };
}
