package guardrail

import (
	"bytes"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-gateway/svc/agents/schema"
	"github.com/svc-gateway/svc/internal/strictjson"
)

// fits checks a text against a schema. The error says what is wrong, in one line without the text itself.
func fits(form *schema.Schema, text string) error {
	if err := strictjson.Check([]byte(text)); err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		return errors.New("it is not JSON")
	}
	if err := form.Check(v); err != nil {
		return errors.New(cut(err.Error(), maxDetail))
	}
	return nil
}

// maxDetail bounds what is told of one misfit, in bytes.
const maxDetail = 500

// cut shortens a text at a character's end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
