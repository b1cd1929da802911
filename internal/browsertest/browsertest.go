// Package browsertest drives a real browser, Chromium, in tests.
//
//	b := browsertest.New(t)
//	b.Do(
//		chromedp.Navigate("http://svc.test:"+port+"/auth/login"),
//		chromedp.SendKeys("#token", token),
//		chromedp.Submit("#token"),
//	)
//
// Every [Browser] has a profile of its own. All names below .test are this machine, so that a
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
	"github.com/chromedp/chromedp"
)

// patience bounds everything that a test does with one browser.
const patience = time.Minute

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
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"),
		chromedp.Flag("host-resolver-rules", "MAP *.test 127.0.0.1"),
		chromedp.Flag("disable-dev-shm-usage", true),
	)
	if os.Getuid() == 0 { // Chromium's own sandbox does not work for root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	tb.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	tb.Cleanup(cancel)
	return &Browser{tb, ctx}
}

// Do performs the actions in order. Those on an element wait until it is there.
func (b *Browser) Do(actions ...chromedp.Action) {
	b.tb.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.tb.Fatalf("in the browser: %v\n%s", err, b.page())
	}
}

// page is what the browser shows, for a failure.
func (b *Browser) page() string {
	var at, text string
	if err := chromedp.Run(b.ctx, chromedp.Location(&at), chromedp.Text("body", &text, chromedp.ByQuery)); err != nil {
		return err.Error()
	}
	return at + "\n" + text
}

// Text returns what the element shows.
func (b *Browser) Text(selector string) string {
	b.tb.Helper()
	var text string
	b.Do(chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// Location returns the address of the page.
func (b *Browser) Location() string {
	b.tb.Helper()
	var at string
	b.Do(chromedp.Location(&at))
	return at
}

// Cookie returns the browser's cookie of that name for the address, nil where it has none.
func (b *Browser) Cookie(address, name string) *network.Cookie {
	b.tb.Helper()
	var found *network.Cookie
	b.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		cookies, err := network.GetCookies().WithURLs([]string{address}).Do(ctx)
		for _, c := range cookies {
			if c.Name == name {
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
	b.Do(chromedp.EmulateViewport(width, 800), chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.tb.Fatal(err)
	}
}
