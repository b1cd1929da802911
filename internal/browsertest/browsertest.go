// Package browsertest drives a real browser, Chromium, in tests.
//
//	b := browsertest.New(t)
//	b.Open("http://svc.test:" + port + "/auth/login")
//	b.Type("#token", token)
//	b.Submit("#token")
//	b.Wait("#account")
//
// Elements are named by CSS selectors, and waited for; what does not come fails the test. Every
// [Browser] has a profile of its own. All names below .test are this machine, so that a
// test can have several sites, and origins that a browser does not trust as it trusts
// localhost. Where no Chromium is installed the test is skipped. A Browser serves one goroutine.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

// patience is how long one step waits for what should come.
const patience = 30 * time.Second

// Screenshots is the environment variable that names the folder for [Browser.Screenshot].
const Screenshots = "SVC_SCREENSHOTS"

// Browser is one tab.
type Browser struct {
	tb  testing.TB
	ctx context.Context // the tab's; chromedp keeps its state there
}

// New starts a browser that ends with the test.
func New(tb testing.TB) *Browser {
	tb.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		tb.Skip("chromium is not installed")
	}
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"),
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"),
		chromedp.Flag("disable-dev-shm-usage", true),
	)
	if os.Getuid() == 0 { // Chromium's own sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	tb.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	tb.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil { // the browser lives as long as the context of its first Run
		tb.Fatalf("starting the browser: %v", err)
	}
	return &Browser{tb, ctx}
}

// Open goes to the address and waits until the page is loaded.
func (b *Browser) Open(address string) {
	b.tb.Helper()
	b.do(chromedp.Navigate(address))
}

// Type types into a field.
func (b *Browser) Type(field, text string) {
	b.tb.Helper()
	b.do(chromedp.SendKeys(field, text, chromedp.ByQuery))
}

// Submit sends the form that the field belongs to.
func (b *Browser) Submit(field string) {
	b.tb.Helper()
	b.do(chromedp.Submit(field, chromedp.ByQuery))
}

// Click clicks on the element.
func (b *Browser) Click(element string) {
	b.tb.Helper()
	b.do(chromedp.Click(element, chromedp.ByQuery))
}

// Wait waits until the element is to be seen.
func (b *Browser) Wait(element string) {
	b.tb.Helper()
	b.do(chromedp.WaitVisible(element, chromedp.ByQuery))
}

// WaitGone waits until there is no such element.
func (b *Browser) WaitGone(element string) {
	b.tb.Helper()
	b.do(chromedp.WaitNotPresent(element, chromedp.ByQuery))
}

// Eval returns what a JavaScript expression is on the page, as text.
func (b *Browser) Eval(expression string) string {
	b.tb.Helper()
	var value string
	b.do(chromedp.Evaluate("String("+expression+")", &value))
	return value
}

func (b *Browser) do(actions ...chromedp.Action) {
	b.tb.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.tb.Fatalf("in the browser: %v\n%s", err, b.page())
	}
}

// page is what the browser shows, for a failure.
func (b *Browser) page() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	var at, text string
	if err := chromedp.Run(ctx, chromedp.Location(&at), chromedp.Text("body", &text, chromedp.ByQuery)); err != nil {
		return err.Error()
	}
	return at + "\n" + text
}

// Text returns what the element shows.
func (b *Browser) Text(selector string) string {
	b.tb.Helper()
	var text string
	b.do(chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// Location returns the address of the page.
func (b *Browser) Location() string {
	b.tb.Helper()
	var at string
	b.do(chromedp.Location(&at))
	return at
}

// Cookie returns the browser's cookie of that name for the host, nil where it has none.
func (b *Browser) Cookie(host, name string) *network.Cookie {
	b.tb.Helper()
	var found *network.Cookie
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		cookies, err := storage.GetCookies().Do(ctx)
		for _, c := range cookies {
			if c.Name == name && c.Domain == host {
				found = c
			}
		}
		return err
	}))
	return found
}

// Screenshot writes the page, as wide as given in CSS pixels, to name.png in the folder that the
// environment variable [Screenshots] names; without it nothing is done.
func (b *Browser) Screenshot(name string, width int64) {
	b.tb.Helper()
	dir := os.Getenv(Screenshots)
	if dir == "" {
		return
	}
	var png []byte
	b.do(chromedp.EmulateViewport(width, 800), chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.tb.Fatal(err)
	}
}
