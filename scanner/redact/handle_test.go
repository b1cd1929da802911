package redact

import (
	"strings"
	"testing"
)

const random32 = "q2Lr9Tn4Vd0WkJm3Zc8Hf5Ye6Ua1PsB7"

func TestHandle(t *testing.T) {
	for _, name := range []string{
		"Mcp-Session-Id", "session_id", "sessionId", "X-Session-ID", "openai_session_id", "nextPageToken", "next_page_token",
		"pageToken", "page_token", "NextToken", "nextToken", "continuationToken", "ContinuationToken", "NextContinuationToken", "progressToken",
		"X-CSRF-Token", "X-XSRF-TOKEN", "csrfToken", "CSRFToken", "csrf_token", "csrftoken", "_csrf_token", "csrfmiddlewaretoken", "authenticity_token",
		"__RequestVerificationToken", "Lock-Token", "nextSyncToken", "cursor_token", "previous-page-token",
	} {
		if !Handle(name) {
			t.Errorf("%s is no handle", name)
		}
	}
	for _, name := range []string{
		"", "token", "access_token", "refreshToken", "id_token", "session_token", "sessionid", "JSESSIONID", "PHPSESSID", "unlock_token",
		"X-Auth-Token", "verification_token", "clock_token", "reset_password_token", "obsession_id", "secret_id", "api-key",
	} {
		if Handle(name) {
			t.Errorf("%s is a handle", name)
		}
	}
}

// What is a handle by its name stays, in all places where one stands. What is a secret by its looks
// goes there too, and what is a credential by its name.
func TestHandles(t *testing.T) {
	const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
	for _, tt := range []struct{ name, in string }{
		{"member of JSON", `{"session_id":"%","next_page_token":"%","progressToken":"%"}`},
		{"member of JSON in JSON", `{"text":"{\"session_id\":\"%\",\"nextPageToken\": \"%\"}"}`},
		{"parameter of a link", `<https://example.com/items?page_token=%>; rel="next"`},
		{"parameter of a URL", `/messages?x=1&sessionId=%`},
		{"parameter of a URL in HTML", `<a href="/m?x=1&amp;session_id=%">`},
		{"hidden field", `<input type="hidden" name="csrf_token" value="%">`},
		{"hidden field of any name", `<input type=hidden name="form[token]" value="%">`},
		{"hidden field, its type last", `<input name="_token" value="%" type="hidden">`},
		{"field of Django", `<input type='hidden' name='csrfmiddlewaretoken' value='%'>`},
		{"field of ASP.NET", `<input name="__RequestVerificationToken" type="hidden" value="%" />`},
		{"meta of Rails", `<meta name="csrf-token" content="%" />`},
		{"assignment", "csrf_token = \"%\"\n"},
		{"line of a header", "X-CSRF-Token: %\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redact := func(s string) string {
				in := strings.ReplaceAll(tt.in, "%", s)
				if tt.in[0] == '{' {
					return string(JSON([]byte(in)))
				}
				return Text(in)
			}
			if got := redact(random32); got != strings.ReplaceAll(tt.in, "%", random32) {
				t.Errorf("got  %s", got)
			}
			for _, secret := range []string{"AKIAQ3EGRIL2VN7UTXJ5", jwt} {
				if got := redact(secret); got != strings.ReplaceAll(tt.in, "%", Mark) {
					t.Errorf("a secret: got  %s", got)
				}
			}
		})
	}
	for _, in := range []string{
		`{"sessionid":"%"}`, `{"session_token":"%"}`, `{"access_token":"%"}`, "session_id=%\n", "session_id: %\n",
		"Cookie: session_id=%; a=b", "JSESSIONID=%", "/cb?access_token=%&page_token=x", `<input type="text" name="token" value="%">`, `<meta name="token" content="%">`,
	} {
		got := Text(strings.ReplaceAll(in, "%", random32))
		if in[0] == '{' {
			got = string(JSON([]byte(strings.ReplaceAll(in, "%", random32))))
		}
		if want := strings.ReplaceAll(in, "%", Mark); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
