package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/internal/suggest"
)

// none is the content of a file that is not there.
const none = `{"hooks":[]}`

const (
	maxHooks   = 256
	maxCommand = 64 << 10 // bytes; the kernel takes twice as much as one argument
)

// unused is what becomes of a file that cannot be used as a whole.
const unused = "what was read before stays"

// entry is one hook.
type entry struct {
	index   int // in the file
	event   string
	command string
}

// parse reads the file's content: the good entries, and what is wrong with the others or beside them.
// Without ok the file cannot be used at all.
func parse(text []byte) (entries []entry, mistakes []error, ok bool) {
	if err := strictjson.Check(text); err != nil {
		return nil, []error{fmt.Errorf("%w; write %s, or entries of the form {\"event\": …, \"command\": …}: %s", err, none, unused)}, false
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil || doc == nil {
		return nil, []error{fmt.Errorf("it is not an object; write %s: %s", none, unused)}, false
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if name != "hooks" {
			mistakes = append(mistakes, fmt.Errorf("%s: unknown field; remove it%s", shown(name), suggest.DidYouMean(shown(name), []string{"hooks"})))
		}
	}
	var list []json.RawMessage
	if err := json.Unmarshal(doc["hooks"], &list); err != nil || list == nil {
		return nil, append(mistakes, fmt.Errorf("hooks: it has to be a list; write %s for no hooks: %s", none, unused)), false
	}
	for i, raw := range list {
		if i == maxHooks {
			mistakes = append(mistakes, fmt.Errorf("hooks[%d]: there are %d hooks, and those after the first %d do not run; let one command do the work of several", i, len(list), maxHooks))
			break
		}
		e, wrong := parseEntry(i, raw)
		if len(wrong) > 0 {
			mistakes = append(mistakes, wrong...)
			continue
		}
		entries = append(entries, e)
	}
	return entries, mistakes, true
}

// parseEntry reads one entry.
func parseEntry(i int, raw json.RawMessage) (e entry, mistakes []error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return e, []error{fmt.Errorf("hooks[%d]: it has to be an object {\"event\": …, \"command\": …}", i)}
	}
	bad := func(field, format string, args ...any) {
		mistakes = append(mistakes, fmt.Errorf("hooks[%d].%s: %w", i, field, fmt.Errorf(format, args...)))
	}
	known := []string{"event", "command"}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			bad(shown(name), "unknown field; remove it, a hook has event and command only%s", suggest.DidYouMean(shown(name), known))
		}
	}
	e.index = i
	switch given, err := stringOf(fields["event"]); {
	case err != nil:
		bad("event", "%w; set it to one of %s", err, strings.Join(Events[:], ", "))
	case !slices.Contains(Events[:], given):
		bad("event", "%w", unknownEvent(given))
	default:
		e.event = given
	}
	switch given, err := stringOf(fields["command"]); {
	case err != nil:
		bad("command", "%w; set it to a command for /bin/sh", err)
	case strings.TrimSpace(given) == "":
		bad("command", "it is empty; set it to a command for /bin/sh, or remove the hook")
	case strings.ContainsRune(given, 0):
		bad("command", "it has a NUL, which no command can have; remove it")
	case len(given) > maxCommand:
		bad("command", "it has %d bytes, of %d at most; put it into a script", len(given), maxCommand)
	default:
		e.command = given
	}
	return e, mistakes
}

// shown is the name of a field as a message has it: short, and on one line.
func shown(name string) string {
	quoted := strconv.Quote(shorten(name, maxName))
	if plain := quoted[1 : len(quoted)-1]; plain == name {
		return name
	}
	return quoted
}

func stringOf(raw json.RawMessage) (string, error) {
	if raw == nil {
		return "", errors.New("it is missing")
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", errors.New("it has to be a string")
	}
	return *s, nil
}
