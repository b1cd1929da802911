// The published React hook, in a browser, against the service: on an origin of its own, with a token, and
// with a connection that is cut.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createRelay } from 'node:net';
import { fileURLToPath } from 'node:url';
import { after, before, beforeEach, test } from 'node:test';

import { build } from 'esbuild';
import puppeteer from 'puppeteer-core';

const within = { timeout: 120_000 };
const folder = `${process.env.PROJECT}/build`;

let browser, site, relay, page;
const joined = new Set();

/** Ends every connection between the browser and the service. */
function cut() {
  for (const socket of joined) socket.resetAndDestroy();
}

before(async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.jsx', import.meta.url))],
    bundle: true, write: false, jsx: 'automatic', define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' },
  });
  const html = `<!doctype html><meta charset=utf-8><title>Chat</title><body><script type=module>${outputFiles[0].text.replaceAll('</script', '<\\/script')}</script>`;
  site = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html)).listen(Number(process.env.CHAT), '127.0.0.1');
  relay = createRelay((client) => {
    const server = connect(Number(process.env.SITE), '127.0.0.1');
    for (const [from, to] of [[client, server], [server, client]]) {
      joined.add(from);
      from.on('error', () => to.destroy()).on('close', () => joined.delete(from)).pipe(to);
    }
  }).listen(0, '127.0.0.1');
  browser = await puppeteer.launch({ executablePath: execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(), args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
});

after(async () => {
  await browser?.close();
  site?.close();
  relay?.close();
  cut();
});

beforeEach(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`http://127.0.0.1:${process.env.CHAT}/?api=http://127.0.0.1:${relay.address().port}&assistant=core&key=${process.env.TOKEN}`);
});

async function ask(text) {
  await page.type('#text', text);
  await page.keyboard.press('Enter');
}

/** Waits for something on the page; when it does not come, the page is shown. */
async function shows(coming) {
  try {
    return await coming;
  } catch (error) {
    throw new Error(`${error.message}; the page says:\n${await page.$eval('body', (body) => body.innerText)}`, { cause: error });
  }
}

/** Waits until the last message of a kind says something. */
const says = (kind, pattern) => shows(page.waitForFunction(
  (kind, pattern) => new RegExp(pattern).test([...document.querySelectorAll(`li.${kind}`)].at(-1)?.innerText ?? ''),
  {}, kind, pattern.source,
));

/** Waits until nothing goes on, and returns the messages as [kind, text]. */
async function messages() {
  await shows(page.waitForSelector('#idle'));
  assert.equal(await page.$('#error'), null);
  return page.$$eval('li', (all) => all.map((li) => [li.className, li.innerText]));
}

test('a chat', within, async () => {
  await ask('tell me about yourself');
  await says('ai', /I am the demo model/);
  assert.deepEqual((await messages()).map(([kind]) => kind), ['human', 'ai']);
  await ask('and the memory?');
  await says('ai', /GiB|MiB/);
  assert.deepEqual((await messages()).map(([kind]) => kind), ['human', 'ai', 'human', 'ai', 'tool', 'ai']);
});

test('a tool call', within, async () => {
  await ask('How long has this host been up?');
  await says('ai', /up/);
  const [, call, result, answer] = await messages();
  assert.match(call[1], /^run_command \{"command":"uptime"\}$/);
  assert.equal(result[0], 'tool');
  assert.match(answer[1], /demo model/);
});

for (const [decision, outcome] of [['approve', /Done/], ['reject', /not today|rejected/]]) {
  test(`an approval: ${decision}`, within, async () => {
    mkdirSync(folder, { recursive: true });
    await ask('delete the folder build/');
    await shows(page.waitForSelector('#approval'));
    assert.match(await page.$eval('#approval p', (p) => p.innerText), /^run_command \{"command":"rm -r -- build"\} .+ \[approve,edit,reject\]$/);
    assert.ok(existsSync(folder));
    await page.click(`#${decision}`);
    await says('ai', outcome);
    assert.deepEqual((await messages()).map(([kind]) => kind), ['human', 'ai', 'tool', 'ai']);
    assert.equal(await page.$('#approval'), null);
    assert.equal(existsSync(folder), decision === 'reject');
  });
}

test('an approval that is still there when the page is loaded again', within, async () => {
  mkdirSync(folder, { recursive: true });
  await ask('delete the folder build/');
  await shows(page.waitForSelector('#approval'));
  await page.reload();
  await shows(page.waitForSelector('#approval'));
  await page.click('#approve');
  await says('ai', /Done/);
  assert.equal(existsSync(folder), false);
});

test('a connection that is cut', within, async () => {
  await ask('run sleep 2');
  await says('ai', /run_command/);
  cut();
  await says('ai', /demo model/);
  assert.deepEqual((await messages()).map(([kind]) => kind), ['human', 'ai', 'tool', 'ai']);
});

test('a page that is loaded again while a run is under way', within, async () => {
  await ask('run sleep 2');
  await says('ai', /run_command/);
  await page.reload();
  await says('ai', /demo model/);
  assert.deepEqual((await messages()).map(([kind]) => kind), ['human', 'ai', 'tool', 'ai']);
});
