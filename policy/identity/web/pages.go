package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

//go:embed pages
var files embed.FS

//go:embed pages/style.css
var style string

// contentPolicy lets a page do nothing but show its one style sheet and send its forms here.
var contentPolicy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
	"time":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
	"iso":   func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
}).ParseFS(files, "pages/*.html"))

// What the pages are made of. Each has a Title.
type (
	// loginForm is the page login.
	loginForm struct {
		Title    string
		Message  string // what went wrong, or well
		Failed   bool
		User     string // as it was filled in
		Next     string
		Password bool // a user name and password log in
		Token    bool // a token logs in
		Buttons  []button
	}
	button struct{ Label, To string }

	// failure is the page problem.
	failure struct{ Title, Detail, Code string }

	// onward is a page that goes on by itself.
	onward struct {
		Title string
		To    string
		Note  string // what people should have read by then
	}

	// accountPage is the page account.
	accountPage struct {
		Title     string
		Principal policy.Principal
		Warnings  []string
		Own       []identity.Session
		Others    []identity.Session // everybody else's, for admins
		Hidden    int                // how many there are beside those shown
	}
)

// shown is what a template gets.
type shown struct {
	Root string
	Page any
}

// With is what the template of one session gets.
func (s shown) With(session identity.Session) any {
	return struct {
		Root, Current string
		Session       identity.Session
	}{s.Root, s.Page.(accountPage).Principal.SessionID, session}
}

func (a *accountPage) cut() {
	for _, list := range []*[]identity.Session{&a.Own, &a.Others} {
		if over := len(*list) - maxShown; over > 0 {
			*list, a.Hidden = (*list)[:maxShown], a.Hidden+over
		}
	}
}

// loginPage shows the page to log in with; somebody who is logged in goes on.
func (h *Handler) loginPage(w http.ResponseWriter, r *http.Request, _ policy.Principal) {
	query := r.URL.Query()
	next := query.Get("next")
	_, outcome, err := h.cookie.Authenticate(r)
	switch {
	case outcome == identity.Yes:
		redirect(w, goOn(r, next))
	case outcome == identity.No:
		h.page(w, r, http.StatusOK, "login", h.form(r, "", next, err.Error(), true))
	case r.Header.Get("Sec-Fetch-Site") == "cross-site":
		// The cookie is not sent on a way that began at another site: come again from here.
		h.page(w, r, http.StatusOK, "onward", onward{Title: "One moment", To: ArrivalOf(r).Root + "/login?" + url.Values{"next": {next}}.Encode()})
	case query.Has("out"):
		h.page(w, r, http.StatusOK, "login", h.form(r, "", next, "You are logged out.", false))
	default:
		h.page(w, r, http.StatusOK, "login", h.form(r, "", next, "", false))
	}
}

// form is the page login. next stays as it was sent: it is checked when it counts.
func (h *Handler) form(r *http.Request, user, next, message string, failed bool) loginForm {
	f := loginForm{
		Title: "Log in", Message: message, Failed: failed, User: user, Next: next,
		Password: h.Passwords != nil, Token: h.Tokens,
	}
	if !h.CanLogIn() {
		f.Message = "There is nothing to log in with here."
	}
	if h.Issuers != nil {
		for _, b := range h.Issuers.Buttons() {
			to := ArrivalOf(r).Root + "/oidc/" + url.PathEscape(b.Name)
			if next != "" {
				to += "?" + url.Values{"next": {next}}.Encode()
			}
			f.Buttons = append(f.Buttons, button{b.Label, to})
		}
	}
	return f
}

// page writes a page. data has what its template asks for.
func (h *Handler) page(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name+".html", shown{ArrivalOf(r).Root, data})
	if err != nil {
		h.trouble("making a page", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	if header.Get("Referrer-Policy") == "" {
		// no-referrer would have browsers send "Origin: null" with our own forms.
		header.Set("Referrer-Policy", "same-origin")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // the client may be gone
	}
}
