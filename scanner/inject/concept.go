package inject

import (
	"fmt"
	"slices"
	"strings"
)

// conceptNames are the concepts, what words can mean to the rules of injection, by the names that the
// lexicon and the rules use. The lexicon says which words mean what, in many languages; the rules know
// only concepts, and hence all languages. There is room for 64*setWords.
var conceptNames = [...]string{
	"override",    // to ignore, forget, disregard
	"earlier",     // previous, above, your, all: of instructions given so far
	"orders",      // instructions, rules, guidelines
	"overriding",  // the same as what somebody does: ignoring
	"standing",    // of instructions that stand: existing, safety
	"limitless",   // you have no rules
	"verse",       // a poem, which may hide a secret
	"told",        // everything you were told, the above
	"persona",     // to act as, you are now
	"unbound",     // without restrictions
	"mode",        // developer mode
	"enter",       // to enter, to enable: a mode
	"reveal",      // to reveal, print, tell me
	"prompt",      // the system prompt, your instructions
	"secret",      // password, secret key
	"your",        // your, the one you were given
	"private",     // data about persons, conversations, files
	"send",        // to send, forward, upload
	"outside",     // a place to send to
	"model",       // AI, assistant, language model
	"attention",   // note to, attention
	"must",        // must, should, please
	"not",         // do not, never, without
	"inform",      // to tell, mention, ask
	"people",      // the user, anybody
	"fresh",       // new instructions, your real task
	"always",      // from now on, in every answer
	"remember",    // to remember, to store
	"guards",      // safety filters, approval, restrictions
	"disable",     // to disable, bypass, turn off
	"grant",       // to grant, give, make me
	"power",       // admin rights, root
	"claim",       // I am your developer
	"refuse",      // to refuse, to apologise
	"decode",      // to decode, to combine
	"comply",      // to execute, to obey
	"encoded",     // base64, cipher
	"instead",     // instead, not that
	"respond",     // to answer with, to say
	"first",       // before you answer, do this first
	"fetch",       // curl, wget
	"about",       // attack, example, phrases like: words of those who write about injection
	"destroy",     // to delete, to wipe
	"approve",     // to approve, to confirm
	"tool",        // tool call, function, command
	"chat-tag",    // a token of a chat template
	"tool-tag",    // a token of a tool call's template
	"label",       // system:, [admin]
	"fiction",     // hypothetically, in a world where
	"ignore-word", // the literal phrases of the specification, for their own rules
	"disregard-word",
	"now-word",
	"grant-word",
	"root-word",
	"admin-word",
	"instruction-word",
	"rot13-word",     // words in rot13
	"backwards-word", // words written backwards
	"me",             // me, my account
	"assert",         // to say that, to claim: what is not so
	"picture",        // an image in Markdown or HTML
}

// Concepts that code asks for.
var (
	aboutWords  = parseConcepts("about")
	notWords    = parseConcepts("not")
	refuseWords = parseConcepts("refuse")
	cipherWords = parseConcepts("rot13-word")
	mirrorWords = parseConcepts("backwards-word")
)

// parseConcepts reads alternatives, "earlier|your".
func parseConcepts(s string) (c numbers) {
	for name := range strings.SplitSeq(s, "|") {
		i := slices.Index(conceptNames[:], name)
		if i < 0 {
			panic(fmt.Sprintf("inject: %q is no concept", name))
		}
		c.add(i)
	}
	return c
}

// More names than a set has room for do not compile.
var _ [64*setWords - len(conceptNames)]struct{}
