package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const deviceName = `([A-Za-z0-9][A-Za-z0-9._:/-]*)`

var (
	// deviceForm is "run COMMAND on device edge1", "on devices edge1, edge2" or "on group core"; for the
	// commands of network devices also "on edge1".
	deviceForm = regexp.MustCompile("(?is)^(?:please )?(?:(?:run|execute) )?[`\"']?(.+?)[`\"']? on (?:the )?(?:(group) " + deviceName + `|(?:(devices?) )?(` + deviceName + `(?:(?:, and |, | and )` + deviceName + `)*))(?: and answer (.+?))?[.?!]?$`)
	// deviceWords begin commands that only network devices have.
	deviceVerbs = regexp.MustCompile(`(?i)^(?:show|display|reload|reboot|request|clear|write|ping|traceroute|terminal|get) `)
	// here are words after "on" that are no devices.
	here = []string{"disk", "host", "this", "here", "it", "me", "localhost", "server", "machine"}
	// setForm is "set ntp server 10.0.0.9 on edge1", removeForm takes it back, configureForm has the lines
	// as they are.
	setForm       = regexp.MustCompile(`(?is)^(?:please )?(set|remove) (.+?) on (?:the )?(?:device )?` + deviceName + `[.?!]?$`)
	configureForm = regexp.MustCompile(`(?is)^(?:please )?configure (?:the )?(?:device )?` + deviceName + `:\s*(.+)$`)
	importForm    = regexp.MustCompile("(?i)^(?:please )?import (?:the )?(?:inventory|devices)(?: from| of)? (?:the )?(?:file )?[`\"']?([^\\s`\"']+?)[`\"']?[.!]?$")
	groupForm     = regexp.MustCompile(`(?i)\bgroup ` + deviceName)
	sumForm       = regexp.MustCompile(`sha256 is ([0-9a-f]{64})`)
)

// arguments makes a JSON object. Its values always encode.
func arguments(values map[string]any) string {
	doc, err := json.Marshal(values)
	if err != nil {
		return "{}"
	}
	return string(doc)
}

// devices is what the question asks for of network devices and their inventory; nil if it does not.
func (q question) devices() *topic {
	if m := importForm.FindStringSubmatch(q.text); m != nil {
		return fixed("sync", "import_inventory", map[string]any{"path": m[1]}, tellWritten)
	}
	if m := configureForm.FindStringSubmatch(q.text); m != nil {
		return fixed("config", "device_config", map[string]any{"device": m[1], "lines": lines(m[2])}, tellWritten)
	}
	if m := setForm.FindStringSubmatch(q.text); m != nil {
		line := m[2]
		if strings.EqualFold(m[1], "remove") {
			line = "no " + line
		}
		return fixed("config", "device_config", map[string]any{"device": m[3], "lines": line}, tellWritten)
	}
	if q.has("devices", "inventory") && q.has("which", "what", "list", "show", "are") && !q.has("run", "execute") {
		sql := "SELECT name, address, platform, site, role FROM inventory"
		if m := groupForm.FindStringSubmatch(q.text); m != nil {
			sql += " WHERE list_contains(groups, '" + strings.ToLower(m[1]) + "')"
		}
		return fixed("core", "query_database", map[string]any{"sql": sql + " ORDER BY name LIMIT 50"}, tellDevices)
	}
	m := deviceForm.FindStringSubmatch(q.text)
	if m == nil {
		return nil
	}
	command, group, named, names := m[1], m[3], m[4], m[5]
	if group == "" && named == "" && (!deviceVerbs.MatchString(command+" ") || slices.Contains(here, strings.ToLower(names))) {
		return nil
	}
	values := map[string]any{"command": command}
	if group != "" {
		values["group"] = group
	} else {
		values["devices"] = strings.Fields(strings.NewReplacer(",", " ", " and ", " ").Replace(names))
	}
	if answer := m[len(m)-1]; answer != "" {
		if strings.EqualFold(answer, "enter") {
			answer = ""
		}
		values["answers"] = []string{answer}
	}
	return fixed("core", "device_command", values, tellWritten)
}

// fixed is a topic of one call.
func fixed(agent, tool string, values map[string]any, tell func(question, string) string) *topic {
	doc := arguments(values)
	return &topic{agent, tool, nil, func(question) string { return doc }, tell}
}

// lines are the lines of a configuration, which stand behind one another with a semicolon.
func lines(text string) string {
	var all []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		if strings.TrimSpace(line) != "" {
			all = append(all, strings.TrimRight(strings.TrimPrefix(line, " "), " \t\r"))
		}
	}
	return strings.Join(all, "\n")
}

// second is the call after one that only looked: with the difference, or the hash, that it said. It is made
// once.
func (q question) second(messages []Message) (tool, args string, ok bool) {
	if len(messages) != 2 || len(messages[0].ToolCalls) != 1 || messages[1].Status != "" && messages[1].Status != "success" {
		return "", "", false
	}
	call, said := messages[0].ToolCalls[0], messages[1].Content
	var values map[string]any
	if json.Unmarshal([]byte(call.Arguments), &values) != nil {
		return "", "", false
	}
	switch call.Name {
	case "device_config":
		_, rest, _ := strings.Cut(said, "\n---\n")
		diff, _, found := strings.Cut(rest, "---")
		if !found || diff == "" {
			return "", "", false
		}
		values["diff"] = diff
	case "import_inventory":
		m := sumForm.FindStringSubmatch(said)
		if m == nil {
			return "", "", false
		}
		values["sha256"] = m[1]
	default:
		return "", "", false
	}
	return call.Name, arguments(values), true
}

func tellDevices(q question, out string) string {
	rows, ok := answered(out)
	switch {
	case !ok:
		return tellOutput(q, out)
	case len(rows) == 0:
		return "There is no such device."
	}
	var all []string
	for _, r := range rows {
		if len(r) == 5 {
			all = append(all, fmt.Sprintf("%v (%v, %v)", r[0], r[2], r[1]))
		}
	}
	return fmt.Sprintf("The inventory has %s: %s.", count(len(all), "device", "devices"), strings.Join(all, ", "))
}
