package command

import "testing"

func BenchmarkAnalyze(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Analyze("sudo timeout 5 df -h /var | sort -k5 | head -n 3 2>/dev/null")
	}
}
