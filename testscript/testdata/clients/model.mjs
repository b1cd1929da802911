// A server with the API of OpenAI: chat completions, responses and the list of models.

import { EventStream, json, serve } from './upstream.mjs';

/**
 * Serves a model. current() is what answers POST: answer(model, body, request), where
 * model.json(status, value) sends an answer as a whole and model.stream() begins one in events, which
 * are written as answer.wire says.
 */
export function serveModel(port, current) {
  return serve(port, async (request, response, body) => {
    const answer = current();
    if (request.method === 'GET' && request.url === '/v1/models') {
      json(response, 200, { object: 'list', data: [model('small'), model('large')] });
    } else if (request.method === 'POST' && ['/v1/chat/completions', '/v1/responses'].includes(request.url)) {
      await answer({ json: (status, value) => json(response, status, value), stream: () => new EventStream(response, answer.wire) }, body, request);
    } else {
      json(response, 404, { error: { message: `Invalid URL (${request.method} ${request.url})`, type: 'invalid_request_error', param: null, code: null } });
    }
  });
}

const model = (id) => ({ id, object: 'model', created: 1, owned_by: 'us' });

/** An event of a chat completion: what the choices go on with, by their index. */
export function delta(deltas, finish = null) {
  return {
    data: {
      id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'small', service_tier: 'default', system_fingerprint: null,
      choices: Object.entries(deltas).map(([index, value]) => ({ index: Number(index), delta: value, logprobs: null, finish_reason: finish })),
    },
  };
}

/** A piece of the arguments of a tool call; the first one has its name. */
export function toolDelta(index, args, name) {
  const call = name ? { index, id: 'call_' + index, type: 'function', function: { name, arguments: args } } : { index, function: { arguments: args } };
  return { tool_calls: [call] };
}

export function usage(tokens) {
  return { data: { ...delta({}).data, usage: { prompt_tokens: 1, completion_tokens: tokens - 1, total_tokens: tokens } } };
}

export const done = { data: '[DONE]' };

/** A whole chat completion. */
export function completion(message) {
  return {
    id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'small',
    choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };
}

/** The events of a response that says a text, piece by piece. */
export function* response(pieces) {
  let sequence = 0;
  const event = (type, more) => ({ event: type, data: { type, sequence_number: sequence++, ...more } });
  const text = pieces.join('');
  const part = (value) => ({ type: 'output_text', annotations: [], logprobs: [], text: value });
  const item = (status, content) => ({ id: 'msg_1', type: 'message', status, role: 'assistant', content });
  const whole = (status, output) => ({
    id: 'resp_1', object: 'response', created_at: 1, status, background: false, error: null, incomplete_details: null, instructions: null,
    model: 'small', output, parallel_tool_calls: true, previous_response_id: null, temperature: 1, text: { format: { type: 'text' } },
    tool_choice: 'auto', tools: [], top_p: 1, usage: null, metadata: {},
  });
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  yield event('response.created', { response: whole('in_progress', []) });
  yield event('response.in_progress', { response: whole('in_progress', []) });
  yield event('response.output_item.added', { output_index: 0, item: item('in_progress', []) });
  yield event('response.content_part.added', { ...place, part: part('') });
  for (const delta of pieces) yield event('response.output_text.delta', { ...place, delta, logprobs: [] });
  yield event('response.output_text.done', { ...place, text, logprobs: [] });
  yield event('response.content_part.done', { ...place, part: part(text) });
  yield event('response.output_item.done', { output_index: 0, item: item('completed', [part(text)]) });
  yield event('response.completed', { response: whole('completed', [item('completed', [part(text)])]) });
}
