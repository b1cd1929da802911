package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/scanner/model"
)

// write writes the weights and the card.
func write(s *set, l *learner, at limits, t table) error {
	var top float64
	for _, w := range l.w {
		top = max(top, math.Abs(float64(w)))
	}
	// The few largest weights are cut, so that the steps of the others are finer.
	scale := min(top, topWeight) / math.MaxInt8
	features := make([]int8, len(l.w))
	for i, w := range l.w {
		features[i] = int8(max(-math.MaxInt8, min(math.MaxInt8, math.Round(float64(w)/scale))))
	}
	file, err := model.Encode(model.Params{
		Scale: float32(scale), Bias: float32(l.bias), Low: float32(at.low), High: float32(at.high),
	}, features, words(s))
	if err != nil {
		return err
	}
	if err := os.WriteFile(weightsFile, file, 0o644); err != nil { //nolint:gosec // it is compiled into the program
		return fmt.Errorf("writing the weights: %w", err)
	}
	if err := os.WriteFile(cardFile, []byte(card(s, at, t)), 0o644); err != nil { //nolint:gosec // as above
		return fmt.Errorf("writing the model card: %w", err)
	}
	return nil
}

// topWeight is the largest weight that is kept as it is.
const topWeight = 4

// words weighs each word for each category by how much more often attacks of the category have it.
func words(s *set) []int8 {
	const all = len(model.Categories)
	counts := make([]float64, model.Words*all)
	var totals [all]float64
	for _, d := range s.docs {
		c := slices.Index(model.Categories[:], d.threat)
		if !d.attack || c < 0 || !d.made { // who collected attacks did not name them as we do
			continue
		}
		for _, w := range d.words[d.first:d.last] {
			counts[int(w)*all+c]++
			totals[c]++
		}
	}
	weights := make([]int8, len(counts))
	for w := range model.Words {
		var sum, share [all]float64
		var seen, mean float64
		for c := range all {
			sum[c] = counts[w*all+c]
			seen += sum[c]
			share[c] = math.Log((sum[c] + 1) / (totals[c] + model.Words) * model.Words)
			mean += share[c] / float64(all)
		}
		if seen == 0 {
			continue
		}
		for c := range all {
			weights[w*all+c] = int8(max(-127, min(127, math.Round(16*(share[c]-mean)))))
		}
	}
	return weights
}

// licences are those of the labelled texts, by the beginnings of their sources' names.
var licences = []struct{ prefix, from string }{
	{"cse_", "PurpleLlama CyberSecEval (MIT)"},
	{"mitre_frr", "PurpleLlama CyberSecEval (MIT)"},
	{"agentdyn", "AgentDyn (MIT)"},
	{"agt_", "agent-governance-toolkit (MIT)"},
	{"asb_", "ASB (MIT)"},
	{"bipia_", "BIPIA (MIT)"},
	{"injecguard", "InjecGuard (MIT)"},
	{"notinject", "NotInject (MIT)"},
	{"llmguard", "llm-guard (MIT)"},
	{"llmail", "LLMail-Inject (MIT)"},
	{"ntc_templates", "ntc-templates (Apache-2.0)"},
	{"tldr_", "tldr-pages (CC BY 4.0)"},
	{"garak", "garak (Apache-2.0)"},
	{"act_as_prompts_zh", "awesome-chatgpt-prompts-zh (MIT)"},
	{"humaneval", "HumanEval (MIT)"},
}

func licence(source string) string {
	for _, l := range licences {
		if strings.HasPrefix(source, l.prefix) {
			return l.from
		}
	}
	for _, p := range places() {
		if p.source == source {
			return p.what + ", as it was on the machine"
		}
	}
	return "this project"
}

// card writes the model card.
func card(s *set, at limits, t table) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Model card of the statistical detector

Written by `+"`go run ./bench/train`"+` on %s. Do not edit it.

**What it is.** A linear model over hashed features of words: runs of four characters, words, and words with
the two before them. %d weights of a byte, a window of %d tokens. It tells texts that give instructions to a
language model which they should not give from all others. See the comment of package
`+"`scanner/model`"+`.

**What it is for.** A second opinion beside the rules of `+"`scanner/inject`"+`: it annotates what deserves a
look. It is no proof of harmlessness, and it cannot tell a bare task in a document from an honest one.

**Languages.** English, German, French, Spanish, Italian, Portuguese, Russian, Chinese, Japanese and Korean.

**How it was made.** %d texts, without those that repeat others. %d of them were made from the templates in
`+"`bench/train/templates`"+`, which were written for this project; %d of those are attacks. No text of any source
is in the weights as it was. The thresholds are margins of %.2f (low confidence) and %.2f (high confidence).

**Figures.** Each row was measured by models that were trained without the source and without sources of the
same authors. "Bare tasks" are attacks whose text is an ordinary task; they are not trained with.
Some templates were written after a look at what earlier models missed of agt_bench100, llmguard_tests and
cse_pi, so the figures of these three are better than those of a source that nobody has seen.

| source | texts | low or high confidence | high confidence |
|---|---|---|---|
`, time.Now().UTC().Format("2 January 2006"), model.Features, model.Window, len(s.docs), count(s, func(d *doc) bool { return d.made }),
		count(s, func(d *doc) bool { return d.made && d.attack }), at.low, at.high)
	for _, r := range t {
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", r.name(), r.all, share(r.low, r.all), share(r.high, r.all))
	}
	b.WriteString("\n**Data.** Read when it was trained; none of it is in the repository.\n\n| source | from | texts |\n|---|---|---|\n")
	for _, source := range s.sources() {
		name := strings.TrimSuffix(source, " (bare tasks)")
		fmt.Fprintf(&b, "| %s | %s | %d |\n", source, licence(name), count(s, func(d *doc) bool { return d.source == source }))
	}
	return b.String()
}

func count(s *set, is func(*doc) bool) int {
	n := 0
	for _, d := range s.docs {
		if is(d) {
			n++
		}
	}
	return n
}
