// A chat as people build it with the published hook: its address says where the server is, whom to ask and
// with which token.

import { createRoot } from 'react-dom/client';
import { useState } from 'react';
import { useStream } from '@langchain/langgraph-sdk/react';

const at = new URLSearchParams(location.search);

function Message({ message }) {
  const calls = message.tool_calls ?? [];
  return (
    <li className={message.type} data-id={message.id}>
      {typeof message.content === 'string' ? message.content : message.content.map((part) => part.text).join('')}
      {calls.map((call) => (
        <code key={call.id}>{`${call.name} ${JSON.stringify(call.args)}`}</code>
      ))}
    </li>
  );
}

function Approval({ interrupt, decide }) {
  const { action_requests: actions, review_configs: configs } = interrupt.value;
  return (
    <section id="approval">
      {actions.map((action, i) => (
        <p key={i}>
          {`${action.name} ${JSON.stringify(action.args)} ${action.description} [${configs[i].allowed_decisions}]`}
        </p>
      ))}
      <button id="approve" onClick={() => decide(actions.map(() => ({ type: 'approve' })))}>Approve</button>
      <button id="reject" onClick={() => decide(actions.map(() => ({ type: 'reject', message: 'not today' })))}>Reject</button>
    </section>
  );
}

function Chat() {
  const [thread, setThread] = useState(location.hash.slice(1) || null);
  const [text, setText] = useState('');
  const chat = useStream({
    apiUrl: at.get('api'),
    apiKey: at.get('key'),
    assistantId: at.get('assistant'),
    messagesKey: 'messages',
    reconnectOnMount: true,
    threadId: thread,
    onThreadId(id) {
      setThread(id);
      history.replaceState(null, '', `#${id}`);
    },
  });
  const ask = (event) => {
    event.preventDefault();
    chat.submit({ messages: [{ type: 'human', content: text }] });
    setText('');
  };
  return (
    <main>
      <ol>{chat.messages.map((message) => <Message key={message.id} message={message} />)}</ol>
      {chat.interrupt && <Approval interrupt={chat.interrupt} decide={(decisions) => chat.submit(undefined, { command: { resume: { decisions } } })} />}
      <p id={chat.isLoading ? 'busy' : 'idle'}>{chat.isLoading ? 'busy' : 'idle'}</p>
      {chat.error && <p id="error">{String(chat.error?.message ?? chat.error)}</p>}
      <form onSubmit={ask}>
        <input id="text" value={text} onChange={(event) => setText(event.target.value)} />
      </form>
    </main>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat />);
