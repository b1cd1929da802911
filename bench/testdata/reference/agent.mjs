// A graph with a chat model that says the pieces in pieces.json, one after another and without delay.

import { readFileSync } from 'node:fs';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const pieces = JSON.parse(readFileSync(new URL('pieces.json', import.meta.url), 'utf8'));

class Reciter extends BaseChatModel {
  _llmType() {
    return 'reciter';
  }

  async _generate() {
    const text = pieces.join('');
    return { generations: [{ text, message: new AIMessage(text) }] };
  }

  async *_streamResponseChunks(_messages, _options, run) {
    for (const text of pieces) {
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) });
      yield chunk;
      await run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

const model = new Reciter({});

async function answer({ messages }) {
  return { messages: [await model.invoke(messages)] };
}

export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge(START, 'answer').addEdge('answer', END).compile();
