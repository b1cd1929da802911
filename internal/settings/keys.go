package settings

import (
	"errors"
	"fmt"
	"strings"
)

// homes are the servers that the providers' own keys belong to, by the customary names of their variables.
var homes = map[string]string{"OPENAI_API_KEY": "https://api.openai.com", "ANTHROPIC_API_KEY": "https://api.anthropic.com"}

// sentKey is a key that goes to a server.
type sentKey struct {
	at      string // the setting
	about   string // where it is looked for in a file
	from    string // the variable that holds it, or the reference to a file
	address string
	setting string // that has the address
	by      string // who sends it
}

// sentKeys are all keys that models, what stands beside them, remote agents and servers of tools are sent.
func (s Settings) sentKeys() (all []sentKey) {
	add := func(k sentKey) {
		if k.from != "" && k.address != "" {
			all = append(all, k)
		}
	}
	add(sentKey{"model.api_key_env", "model.provider", s.Model.APIKeyEnv, s.Model.Address(), "base_url", DefaultModel})
	for i, m := range s.NamedModels() {
		add(sentKey{ModelsKey + ": " + m.Called + ".api_key_env", fmt.Sprintf("%s[%d]", ModelsKey, i), m.APIKeyEnv, m.Address(), "base_url", m.Called})
	}
	add(sentKey{"memory.embeddings_key", "memory.embeddings_key", s.Memory.EmbeddingsKey.source(), s.Memory.EmbeddingsURL, "memory.embeddings_url", "memory"})
	add(sentKey{"classifier.api_key", "classifier.api_key", s.Classifier.APIKey.source(), s.Classifier.URL, "classifier.url", "classifier"})
	for i, a := range s.AsyncSubagents() {
		add(sentKey{asyncSubagents.key + ": " + a.Name + ".api_key_env", fmt.Sprintf("%s[%d]", asyncSubagents.key, i), a.APIKeyEnv, a.URL, "url", a.Name})
	}
	for i, m := range s.MCPServers() {
		add(sentKey{mcpServers.key + ": " + m.Name + ".key", fmt.Sprintf("%s[%d]", mcpServers.key, i), m.Key.source(), m.URL, "url", m.Name})
	}
	return all
}

// source is the variable that holds the secret, or the reference itself.
func (r Reference) source() string {
	if m := reference.FindStringSubmatch(string(r)); m != nil && m[1] == "env" {
		return m[2]
	}
	return string(r)
}

// checkKeys holds every key to one server: whoever may change an address would else be sent the keys of others.
func (s Settings) checkKeys() error {
	var errs []error
	first := map[string]sentKey{}
	for _, k := range s.sentKeys() {
		to := origin(k.address)
		other, sent := first[k.from]
		switch home, known := homes[k.from]; {
		case known && to != home:
			errs = append(errs, About(fmt.Errorf("%s: %s is the key for %s, and %s is another server, which would be sent it: put that server's key into a variable of its own", k.at, k.from, home, k.setting), k.about))
		case !sent:
			first[k.from] = k
		case origin(other.address) != to:
			errs = append(errs, About(fmt.Errorf("%s: %s is sent to %s by %s, and a key belongs to one server: put that of %s into %s of its own", k.at, k.from, origin(other.address), other.by, to, k.place()), k.about))
		}
	}
	return errors.Join(errs...)
}

// place is what the key is in.
func (k sentKey) place() string {
	if strings.HasPrefix(k.from, "{file.") {
		return "a file"
	}
	return "a variable"
}
