//go:build linux

package testscript

import "github.com/svc-gateway/svc/internal/ducktest"

// duck gives the script the helper of the analytical database.
func duck(c *call) error {
	program, err := ducktest.Build()
	if err != nil {
		return err
	}
	c.ts.Setenv("SVC_DATABASE_HELPER", program)
	return nil
}
