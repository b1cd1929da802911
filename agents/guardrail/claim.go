package guardrail

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/svc-gateway/svc/agents/model"
)

var (
	// acted is somebody who says what they did. What they did not do, will do or would have done is not said
	// in these forms, and what stands in quotes somebody else said.
	acted = regexp.MustCompile(`(?i)(?:^|[^\p{L}'’"“„«])(?:` +
		`(?P<en>i(?:'|’)?(?:ve| have)? (?:just |already |now |also |successfully )?(?:ran|run|executed|called|invoked|queried|restarted|reloaded|deleted|removed|created|wrote|written|updated|installed|deployed|rebooted|configured))` +
		`|ich habe [^.!?\n]{0,80}?(?:ausgeführt|aufgerufen|abgefragt|neu gestartet|gelöscht|angelegt|geschrieben|aktualisiert|installiert)` +
		`|j(?:'|’)ai (?:exécuté|lancé|appelé|interrogé|redémarré|supprimé|créé|écrit|mis à jour|installé)` +
		`|he (?:ejecutado|llamado|consultado|reiniciado|eliminado|borrado|creado|escrito|actualizado|instalado)` +
		`|ho (?:eseguito|chiamato|interrogato|riavviato|eliminato|cancellato|creato|scritto|aggiornato|installato)` +
		`)(?:[^\p{L}]|$)`)
	// hedged is what makes the English form a part of something else: "if I ran", "before I run".
	hedged = regexp.MustCompile(`(?i)\b(?:if|when|unless|until|once|before|after|whether|should|could|would|can|will|did|do|may|might|that|which|had)\s*$`)

	// quoted is a result that is told of by the name of what gave it, in code marks.
	quoted = regexp.MustCompile("(?i)(?:output (?:of|from)|result (?:of|from)|ran|executed|called|ausgabe von|sortie de|salida de) (?:the )?(?:command |tool |befehl )?`([^`\\n]{1,200})`" +
		"|`([^`\\n]{1,200})` (?:returned|reported|printed|showed|gave|failed with)" +
		"|`([^`\\n ]+ [^`\\n]{1,200})` (?:returns|reports|prints|shows|gives)") // of a single name, documentation speaks so
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
	for _, m := range quoted.FindAllStringSubmatchIndex(text, maxClaims) {
		name := submatch(text, m, 1) + submatch(text, m, 2) + submatch(text, m, 3)
		if isHedged(text, m[0]) || knows(known, name) {
			continue
		}
		return fmt.Sprintf("the answer tells of a result of %q, and no call of a tool had to do with that", cut(name, 80))
	}
	if succeeded {
		return ""
	}
	for _, m := range acted.FindAllStringSubmatchIndex(text, maxClaims) {
		if m[2] >= 0 && isHedged(text, m[2]) {
			continue
		}
		return fmt.Sprintf("the answer says %q, and no call of a tool succeeded", strings.TrimSpace(cut(strings.Trim(text[m[0]:m[1]], " \n.,:;"), 80)))
	}
	return ""
}

// maxClaims bounds how many claims of one answer are looked at.
const maxClaims = 100

func submatch(text string, m []int, group int) string {
	if m[2*group] < 0 {
		return ""
	}
	return text[m[2*group]:m[2*group+1]]
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
