package guardrail

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents/model"
)

var (
	// acted is somebody who says what they did, from the first letter on. What they did not do, will do or would
	// have done is not said in these forms.
	acted = regexp.MustCompile(`(?i)^(?:` +
		`(?P<en>i(?:'|’)?(?:ve| have)? (?:just |already |now |also |successfully )?(?:ran|run|executed|called|invoked|queried|restarted|reloaded|deleted|removed|created|wrote|written|updated|installed|deployed|rebooted|configured))` +
		`|ich habe [^.!?\n]{0,80}?(?:ausgeführt|aufgerufen|abgefragt|neu gestartet|gelöscht|angelegt|geschrieben|aktualisiert|installiert)` +
		`|j(?:'|’)ai (?:exécuté|lancé|appelé|interrogé|redémarré|supprimé|créé|écrit|mis à jour|installé)` +
		`|he (?:ejecutado|llamado|consultado|reiniciado|eliminado|borrado|creado|escrito|actualizado|instalado)` +
		`|ho (?:eseguito|chiamato|interrogato|riavviato|eliminato|cancellato|creato|scritto|aggiornato|installato)` +
		`)(?:[^\p{L}]|$)`)
	// hedged is what makes the English form a part of something else: "if I ran", "before I run".
	hedged = regexp.MustCompile(`(?i)\b(?:if|when|unless|until|once|before|after|whether|should|could|would|can|will|did|do|may|might|that|which|had)\s*$`)

	// toldBefore and toldAfter stand around the name, in code marks, of what a result is told of. Of a single
	// name documentation speaks as in toldOf.
	toldBefore = regexp.MustCompile("(?i)(?:output (?:of|from)|result (?:of|from)|ran|executed|called|ausgabe von|sortie de|salida de) (?:the )?(?:command |tool |befehl )?$")
	toldAfter  = regexp.MustCompile("(?i)^ (?:returned|reported|printed|showed|gave|failed with)")
	toldOf     = regexp.MustCompile("(?i)^ (?:returns|reports|prints|shows|gives)")
)

// What an expression is shown of a text, in bytes: more than what it matches is long.
const (
	longestAct = 512
	longestLed = 64
)

// claim says what a text tells of that no tool did; empty: nothing. Calls that did not succeed did nothing,
// but what they said may be told.
func claim(text string, done []model.Message) string {
	var said strings.Builder // of the calls and their results
	succeeded := false
	for _, m := range done {
		for _, c := range m.ToolCalls {
			said.WriteString(c.Name + "\n" + c.Arguments + "\n")
		}
		if m.Role == model.RoleTool {
			succeeded = succeeded || m.Status == "success"
			said.WriteString(m.Content + "\n")
		}
	}
	known := said.String()
	if name := told(text, known); name != "" {
		return fmt.Sprintf("the answer tells of a result of %q, and no call of a tool had to do with that", cut(name, 80))
	}
	if succeeded {
		return ""
	}
	if act := act(text); act != "" {
		return fmt.Sprintf("the answer says %q, and no call of a tool succeeded", act)
	}
	return ""
}

// told returns the name in code marks of the first result that a text tells of and the calls did not give.
func told(text, known string) string {
	names, claims := 0, 0
	for at := 0; names < maxLooks && claims < maxClaims; at++ {
		open := strings.IndexByte(text[at:], '`')
		if open < 0 {
			return ""
		}
		at += open
		name, _, ok := strings.Cut(text[at+1:min(len(text), at+2+4*maxName)], "`")
		if !ok || name == "" || strings.Contains(name, "\n") || utf8.RuneCountInString(name) > maxName {
			continue
		}
		names++
		from, led, rest := at, text[max(0, at-longestLed):at], text[at+len(name)+2:]
		if before := toldBefore.FindStringIndex(led); before != nil {
			from -= len(led) - before[0]
		} else if !tells(name, rest[:min(len(rest), longestLed)]) {
			continue
		}
		if isHedged(text, from) {
			continue
		}
		if claims++; !knows(known, name) {
			return name
		}
	}
	return ""
}

// tells reports whether a text says behind a name in code marks what it gave.
func tells(name, rest string) bool {
	first, more, _ := strings.Cut(name, " ")
	return toldAfter.MatchString(rest) || first != "" && more != "" && toldOf.MatchString(rest)
}

// maxName is how many characters a name in code marks has at most.
const maxName = 200

// Bounds of what is looked at in one answer.
const (
	maxLooks  = 10_000 // names, and places where somebody may say what they did
	maxClaims = 100    // results that are looked for in all that the calls gave
)

// act returns what a text says first of what somebody did, empty if it does not. What stands in quotes somebody
// else said.
func act(text string) string {
	looks := 0
	for at := 0; at < len(text) && looks < maxLooks; at++ {
		if !mayAct(text[at:]) {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(text[:at]); at > 0 && (unicode.IsLetter(last) || strings.ContainsRune(`'’"“„«`, last)) {
			continue
		}
		looks++
		m := acted.FindStringSubmatchIndex(text[at:min(len(text), at+longestAct)])
		if m == nil || m[2] >= 0 && isHedged(text, at) {
			continue
		}
		return strings.TrimSpace(cut(strings.Trim(text[at:at+m[1]], " \n.,:;"), 80))
	}
	return ""
}

// mayAct reports whether a text begins with the letters of a form of acted.
func mayAct(s string) bool {
	if len(s) < 2 {
		return false
	}
	switch s[0] {
	case 'i', 'I':
		return strings.IndexByte(" 'cCvV\xe2", s[1]) >= 0
	case 'j', 'J':
		return s[1] == '\'' || s[1] == 0xe2
	case 'h', 'H':
		return strings.IndexByte("eEoO", s[1]) >= 0
	}
	return false
}

// isHedged reports whether what begins at a place is only spoken of.
func isHedged(text string, at int) bool {
	return hedged.MatchString(text[max(0, at-16):at])
}

// knows reports whether the calls and results have to do with a name: it stands in one of them, as it is
// written or with the escapes of JSON, or its first word does and names a program or a tool.
func knows(known, name string) bool {
	name = strings.TrimSpace(name)
	if strings.Contains(known, name) || strings.Contains(known, strings.ReplaceAll(name, `"`, `\"`)) {
		return true
	}
	first, _, _ := strings.Cut(name, " ")
	return first != "" && strings.Contains(known, first)
}
