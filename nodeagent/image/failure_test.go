// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/images"
)

func TestRedact(t *testing.T) {
	used := &criv1.AuthConfig{Username: "robot", Password: "pa ss/word", IdentityToken: "identity", RegistryToken: "registry-token"}
	for _, test := range []struct{ name, text, want string }{
		{"plain words stay", "is it running, and may this process use its socket? rpc error: a=b", "is it running, and may this process use its socket? rpc error: a=b"},
		{"a URL stays", `Get "https://quay.io:443/v2/web/manifests/1": no route to host`, `Get "https://quay.io:443/v2/web/manifests/1": no route to host`},
		{"IMG-3.8: a query", `Get "https://s3.example/x/y?X-Amz-Credential=AKIA&X-Amz-Signature=abc": EOF`, `Get "https://s3.example/x/y": EOF`},
		{"IMG-3.8: a query without a value", `GET https://s3.example/x?abcdef failed`, `GET https://s3.example/x failed`},
		{"IMG-3.8: a query that was quoted", `desc = "Get \"https://s3.example/x?sig=abc\": EOF"`, `desc = "Get \"https://s3.example/x\": EOF"`},
		{"IMG-3.8: a fragment", "GET https://s3.example/x#token=1", "GET https://s3.example/x"},
		{"IMG-3.8: a query of a path", "GET /v2/x?token=abc 403", "GET /v2/x 403"},
		{"IMG-3.8: a user in a URL", "GET https://me:pw@quay.io/v2/ 401", "GET https://quay.io/v2/ 401"},
		{"IMG-3.8: a header", "sent Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.e30.x", "sent Authorization: Bearer [hidden]"},
		{"a challenge stays", `Bearer realm="https://auth.example/token"`, `Bearer realm="https://auth.example/token"`},
		{"IMG-3.8: the password", "no user robot with pa ss/word here", "no user robot with [hidden] here"},
		{"IMG-3.8: the password, encoded", "form pa+ss%2Fword, path pa%20ss%2Fword", "form [hidden], path [hidden]"},
		{"IMG-3.8: user and password as a header has them", "got " + base64.StdEncoding.EncodeToString([]byte("robot:pa ss/word")), "got [hidden]"},
		{"IMG-3.8: tokens", "identity and registry-token", "[hidden] and [hidden]"},
		{"IMG-3.8: what is not printed", "a\x1b[31m\nb\xff", "a [31m b "},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := redacted(test.text, used); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// IMG-3.8: what is long loses its middle.
func TestCut(t *testing.T) {
	if got := images.Cut("short", 5); got != "short" {
		t.Error(got)
	}
	got := images.Cut("began"+strings.Repeat("ä", 1000)+"ended", 100)
	if len(got) > 100 || !utf8.ValidString(got) || !strings.HasPrefix(got, "began") || !strings.HasSuffix(got, "ended") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	f := failureOf("", errors.New(strings.Repeat("x", 1<<20)), nil)
	for range 9 {
		f = f.join(f)
	}
	if len(f.Error()) > mostMessage {
		t.Errorf("IMG-3.8: %d bytes", len(f.Error()))
	}
}

// Whatever a registry answers, nothing secret is in it, and it is a valid message.
func FuzzRedact(f *testing.F) {
	f.Add(`Get "https://a:b@s3/x?sig=`)
	f.Add("password")
	f.Add("Bearer \xf0")
	f.Fuzz(func(t *testing.T, text string) {
		const password = "0pensesame!"
		got := failureOf("", errors.New(text+password+text), &criv1.AuthConfig{Username: "u", Password: password}).Error()
		if strings.Contains(got, password) || len(got) > mostMessage || !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}

// IMG-3.9: what is about the secrets of a namespace is for no other namespace.
func TestMessageFor(t *testing.T) {
	err := failureOf("bank", errors.New("robot is locked"), nil).join(failureOf("", errors.New("no route"), nil))
	f := Finished{Failed: true, Message: err.Error(), Err: err}
	for namespace, want := range map[string]string{"bank": "robot is locked\nno route", "evil": "no route"} {
		if got := f.messageFor(namespace); got != want {
			t.Errorf("for %s: %q, want %q", namespace, got, want)
		}
	}
	f.Err = failureOf("bank", errors.New("robot is locked"), nil)
	if got := f.messageFor("evil"); got == "" || strings.Contains(got, "robot") {
		t.Errorf("for evil: %q", got)
	}
	if got := (&Finished{Message: "over"}).messageFor("evil"); got != "over" {
		t.Error(got)
	}
}
