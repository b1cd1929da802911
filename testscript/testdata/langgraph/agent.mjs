// A graph for the server: it repeats, asks a person, calls itself slow, and tells a secret.

import { AIMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

async function answer({ messages }, config) {
  const text = messages.at(-1).content;
  config.writer?.({ progress: 'thinking', session_id: 's-1', steps: [1, 2.5, null, true] });
  switch (text) {
    case 'ask': {
      const said = interrupt({ question: 'Really?', token_count: 3 });
      return { messages: [new AIMessage({ id: 'm-asked', content: `The answer is ${said}.` })] };
    }
    case 'secret':
      return { messages: [new AIMessage({ id: 'm-secret', content: 'For bob the password is Hunter2!x.' })] };
    case 'slow':
      await new Promise((done, stop) => {
        const timer = setTimeout(done, 60_000);
        config.signal?.addEventListener('abort', () => { clearTimeout(timer); stop(new Error('cancelled')); });
      });
  }
  return { messages: [new AIMessage({ id: 'm-said', content: `You said: ${text} – Ä, 🙂` })] };
}

export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge(START, 'answer').addEdge('answer', END).compile();
