package ownwrites

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

var web = types.NamespacedName{Namespace: "default", Name: "web"}

func at(version string) Seen { return func(Resource) string { return version } }

func TestPending(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes []string
		seen   string
		want   bool
	}{
		{"nothing was written", nil, "", false},
		{"the cache is behind", []string{"12"}, "11", true},
		{"the cache has seen it", []string{"12"}, "12", false},
		{"the cache is ahead", []string{"12"}, "100", false},
		{"the newest write counts, in any order", []string{"9", "12", "10"}, "11", true},
		{"versions are numbers, not text", []string{"9"}, "10", false},
		{"a write without a version", []string{""}, "1", false},
		{"a write with a malformed version", []string{"x"}, "1", false},
		{"the cache cannot tell", []string{"12"}, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tracker Tracker
			for _, version := range test.writes {
				tracker.Wrote(web, "pods", version)
			}
			if got := tracker.Pending(web, at(test.seen)); (got != "") != test.want {
				t.Errorf("pending: %q", got)
			}
		})
	}
}

func TestPendingForgetsWhatWasSeen(t *testing.T) {
	var tracker Tracker
	tracker.Wrote(web, "pods", "12")
	tracker.Wrote(types.NamespacedName{Name: "other"}, "pods", "50")
	if tracker.Pending(web, at("11")) == "" || tracker.Pending(web, at("12")) != "" {
		t.Error("a write is pending until the cache has seen it")
	}
	if got := tracker.Pending(web, at("1")); got != "" {
		t.Errorf("seen once, it is pending again: %s", got)
	}
	tracker.Wrote(web, "pods", "60")
	tracker.Forget(web)
	if got := tracker.Pending(web, at("1")); got != "" {
		t.Errorf("forgotten, and pending: %s", got)
	}
}

func TestSettle(t *testing.T) {
	var tracker Tracker
	asked := 0
	find := func(version string, err error) func(Resource, string) (string, error) {
		return func(resource Resource, name string) (string, error) {
			if asked++; resource != "pods" || name != "web-1" {
				t.Errorf("asked for %s %s", resource, name)
			}
			return version, err
		}
	}
	if err := tracker.Settle(web, find("", nil)); err != nil || asked > 0 {
		t.Errorf("nothing was lost: asked %d times, error %v", asked, err)
	}
	tracker.Lost(web, "pods", "web-1")
	tracker.Lost(web, "pods", "web-1")
	down := errors.New("connection refused")
	if err := tracker.Settle(web, find("", down)); !errors.Is(err, down) || !strings.Contains(err.Error(), "web-1") {
		t.Errorf("error %v", err)
	}
	if err := tracker.Settle(web, find("12", nil)); err != nil || asked != 2 {
		t.Errorf("asked %d times, error %v", asked, err)
	}
	if tracker.Pending(web, at("11")) == "" {
		t.Error("what was found is not waited for")
	}
	if err := tracker.Settle(web, find("", down)); err != nil {
		t.Errorf("what was found is asked for again: %v", err)
	}
}
