// Package model is the runtime's view of a language model: one interface, [Model],
// whose only method takes a whole conversation and answers with one assistant
// message. Two implementations are here.
//
//   - [NewDemo]: a small deterministic grammar embedded in the binary. It needs no
//     network, makes real tool calls and says in its answers that it is the demo
//     model. It is chosen by name only and never a silent fallback.
//   - [NewOpenAI]: any server that speaks the OpenAI chat completions protocol
//     (OpenAI, Ollama, vLLM, llama.cpp, gateways in front of them).
//
// # Use
//
//	m, err := model.NewOpenAI(model.OpenAIConfig{BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3"})
//	answer, err := m.Turn(ctx, model.Request{Agent: "core", Messages: messages, Tools: specs}, delta)
//
// # Guarantees
//
// A turn returns either one complete assistant message or an error that matches
// [ErrUnavailable], [ErrBadResponse] or the context's error; never half a message
// with a nil error. Pieces given to delta, joined, are the answer's Content. No
// error text contains an API key or the body a server sent; see [ClientMessage].
// Tool call arguments are passed on exactly as the model wrote them, broken ones
// included: judging them is the gate's task.
//
// # Concurrency
//
// A Model is safe for concurrent use. delta is called from the goroutine of Turn.
package model
