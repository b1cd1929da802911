// A server of the graph-based agent protocol, as far as a client that runs an agent needs it.

import { EventStream, json, serve } from './upstream.mjs';

/**
 * Serves runs. current() is the run: run(stream, body, request) sends its events, or goes on with
 * them where a client joins again; stream.event(event, data) numbers them. In runs without a thread
 * events have no id, and nobody can join again. run.wire says how the events are written.
 */
export function serveAgent(port, current) {
  return serve(port, async (request, response, body) => {
    const run = current();
    const thread = /^\/threads\/([^/]+)\/runs(\/[^/]+)?\/stream(\?|$)/.exec(request.url)?.[1];
    if (request.method === 'POST' && request.url === '/threads') {
      json(response, 200, { thread_id: 't-1', status: 'idle', metadata: {}, values: null });
    } else if (request.method === 'POST' && (thread || request.url === '/runs/stream')) {
      await run(new Run(response, thread, 0, run.wire), body, request);
    } else if (request.method === 'GET' && thread) {
      await run(new Run(response, thread, Number(request.headers['last-event-id']) + 1, run.wire), body, request);
    } else {
      json(response, 404, { detail: 'Not Found' });
    }
  });
}

/** The stream of a run. */
class Run extends EventStream {
  constructor(response, thread, next, wire) {
    const place = thread ? `/threads/${thread}/runs/r-1` : '/runs/r-1';
    const again = thread && wire?.again ? { Location: place + '/stream' } : {};
    super(response, { ...wire, headers: { 'Content-Location': place, ...again } });
    Object.assign(this, { thread, next });
  }

  async event(event, data) {
    const id = this.thread ? { id: this.next } : {};
    this.next++;
    await this.send({ event, data: data === null ? 'null' : data, ...id });
  }
}

/** A piece of a message, with the metadata that go with it. */
export function chunk(id, content, node = 'agent') {
  return [
    { id, content, tool_calls: [], invalid_tool_calls: [], tool_call_chunks: [], additional_kwargs: {}, response_metadata: {}, type: 'AIMessageChunk' },
    { tags: [], graph_id: 'agent', run_id: 'r-1', thread_id: 't-1', langgraph_step: 1, langgraph_node: node, langgraph_checkpoint_ns: node + ':1' },
  ];
}

export function message(type, id, content, more = {}) {
  return { content, additional_kwargs: {}, response_metadata: {}, id, type, ...more };
}
