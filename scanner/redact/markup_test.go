package redact

import (
	"encoding/json"
	"testing"
)

// Prose between tags, in links and in attributes is prose, also in a string of JSON.
func TestMarkupStays(t *testing.T) {
	for _, in := range []string{
		`<h3>Community guidelines</h3>`, `<p>Join our community today</p>`, `<h1>Password reset form</h1>`, `<p>Password is required</p>`,
		`<a href="https://caddy.community/c/wiki/13">Community wiki</a>`, `<span>W3C Credentials Community Group</span>`,
		`the [community wiki](https://example.com/wiki)`, `see [Change Password and Set Password Protocols](https://tools.ietf.org/html/rfc3244)`,
		`<a accesskey="U" href="x">`, "<a href=\"genindex.html\"\n   accesskey=\"I\">index</a>", `<A ACCESSKEY=n>`,
		`<code>{buf: &#x3C;string>[, passphrase: &#x3C;string>]}</code>`, `<li title="21.5. Password Authentication">`, `<li>The password didn&#39;t match.`,
		`const aliceSecret = alice.<span class="title">computeSecret</span>(bob)`, `see http://127.0.0.1:5556.`, `<li>http://localhost:8080</li>`, `fmt.Sprintf("http://%s:%d/foo", host, port)`,
		`{"input_token": "NextToken", "output_token": "nextPageToken"}`, `Basic Options`, `ii  base-passwd  3.5.51  amd64`,
		`"SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-1a2b3c"`, `encryptionKey: arn:aws:kms:us-west-2:123456789012:alias/aws/s3`,
		"no longer include username or password information. (#1919)", "fixes the zero-length passphrase regression tests", "type T struct {\n\tsecret int\n}\n",
	} {
		if got := Text(in); got != in {
			t.Errorf("got  %s\nwant %s", got, in)
		}
		doc, err := json.Marshal(map[string]string{"text": in})
		if err != nil {
			t.Fatal(err)
		}
		if got := JSON(doc); string(got) != string(doc) {
			t.Errorf("in JSON: got  %s\nwant %s", got, doc)
		}
	}
}

func TestSecretsInMarkup(t *testing.T) {
	for in, want := range map[string]string{
		`<p>The password is Hunter2!x</p>`: `<p>The password is REDACTED</p>`,
		`<li>password: tiger</li>`:         `<li>password: REDACTED</li>`,
		`<td>Password:</td><td>x</td>`:     `<td>Password:</td><td>x</td>`,
		`password=tiger<br>`:               `password=REDACTED<br>`,
		`![badge](https://example.com/b.svg?token=q2Lr9Tn4Vd)](https://example.com)`: `![badge](https://example.com/b.svg?token=REDACTED)](https://example.com)`,
		`<a>http://bob:tiger@example.com</a>`:                                        `<a>http://bob:REDACTED@example.com</a>`,
		`password=<abc>Def123`:                                                       `password=REDACTED`,
		`AWS access-key="q2Lr9Tn4Vd"`:                                                `AWS access-key="REDACTED"`,
		`accesskey=q2Lr9Tn4Vd`:                                                       `accesskey=REDACTED`,
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%s): got %s, want %s", in, got, want)
		}
	}
}
