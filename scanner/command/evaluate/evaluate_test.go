package evaluate

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func TestDoubts(t *testing.T) {
	for _, tt := range []struct {
		line    string
		doubted bool
	}{
		{"echo $((1+2))", false},
		{"i=0; while [ $i -lt 3 ]; do i=$((i+1)); done", false},
		{"for i in {1..3}; do echo $((i*2)); done", false},
		{"echo $(( $(date +%s) - 5 ))", false},
		{"echo $(( $(ls | wc -l) + 1 ))", false},
		{"[[ -f x ]]", false},
		{"echo ${x:0:2} ${x:-a} ${a[0]} ${a[@]}", false},
		{"echo $((x))", true},
		{"read i; echo $((i))", true},
		{"i=1; i=$(cat f); echo $((i))", true},
		{"echo $((PATH=0))", true},
		{"echo $(( $(cat f) ))", true},
		{"((1))", true},
		{"let x=1", true},
		{"[[ $x -eq 1 ]]", true},
		{"[[ a > b ]]", true},
		{"[[ a || b ]]", true},
		{"[[ -v x ]]", true},
		{"echo ${a[x]}", true},
		{"echo ${x@P}", true},
		{"echo ${!x}", true},
		{"echo ${PATH:=x}", true},
		{"for PATH in x; do ls; done", true},
		{"declare -i x=1", true},
		{"echo $'\\''", true},
	} {
		file, err := syntax.NewParser().Parse(strings.NewReader(tt.line), "")
		if err != nil {
			t.Fatal(err)
		}
		doubted := false
		Look(file).Doubts(func(syntax.Node, string) { doubted = true })
		if doubted != tt.doubted {
			t.Errorf("%s: got %v, want %v", tt.line, doubted, tt.doubted)
		}
	}
}
