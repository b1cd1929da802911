// A server of the graph-based agent protocol, as far as a client that runs an agent needs it.

import { EventStream, json, serve } from './upstream.mjs';

/**
 * Serves runs. run(stream, body, request) sends the events of a run; what it is given takes
 * (event, data) and numbers them. In stateless runs events have no id.
 */
export function serveAgent(port, run) {
  return serve(port, async (request, response, body) => {
    const thread = /^\/threads\/([^/]+)\/runs\/stream$/.exec(request.url)?.[1];
    if (request.method === 'POST' && request.url === '/threads') {
      json(response, 200, { thread_id: 't-1', status: 'idle', metadata: {}, values: null });
    } else if (request.method === 'POST' && (thread || request.url === '/runs/stream')) {
      await run(new Run(response, thread, run.wire), body, request);
    } else {
      json(response, 404, { detail: 'Not Found' });
    }
  });
}

/** The stream of a run. */
class Run extends EventStream {
  #next = 0;

  constructor(response, thread, wire) {
    super(response, { ...wire, headers: { 'Content-Location': thread ? `/threads/${thread}/runs/r-1` : '/runs/r-1' } });
    this.thread = thread;
  }

  async event(event, data) {
    const id = this.thread ? { id: this.#next } : {};
    this.#next++;
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
