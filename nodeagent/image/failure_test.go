// SPDX-License-Identifier: Apache-2.0

package image

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/images"
)

// IMG-3.8: what failures say together is bounded. How a long text is cut the script calls.txt of nodeagent shows.
func TestCut(t *testing.T) {
	if got := images.Cut("short", 5); got != "short" {
		t.Error(got)
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
