package command_test

import (
	"fmt"

	"github.com/svc-gateway/svc/scanner/command"
)

func ExampleAnalyze() {
	c := command.Analyze("df -h; sudo rm -rf /var/log")
	fmt.Println(c.Class, c.Categories)
	// Output: dangerous [recursive_deletion]
}
