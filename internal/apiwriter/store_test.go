// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
)

var web = types.NamespacedName{Namespace: "default", Name: "web"}

func at(version string) Synced { return func(podwright.Resource) string { return version } }

// pending says what is waited for, and fails if that cannot be known.
func pending(t *testing.T, tracker *Store, version string) string {
	t.Helper()
	missing, err := tracker.Pending(web, at(version), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if missing == (Missing{}) {
		return ""
	}
	return missing.String()
}

func TestPending(t *testing.T) {
	for _, test := range []struct {
		name   string
		writes []string
		synced string
		want   bool
	}{
		{"nothing was written", nil, "", false},
		{"the cache is behind", []string{"12"}, "11", true},
		{"the cache has it", []string{"12"}, "12", false},
		{"the cache is ahead", []string{"12"}, "100", false},
		{"the newest write counts, in any order", []string{"9", "12", "10"}, "11", true},
		{"versions are numbers, not text", []string{"9"}, "10", false},
		{"a write without a version", []string{""}, "1", false},
		{"the cache cannot tell", []string{"12"}, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tracker Store
			for _, version := range test.writes {
				tracker.Wrote(web, "pods", version)
			}
			if got := pending(t, &tracker, test.synced); (got != "") != test.want {
				t.Errorf("pending: %q", got)
			}
		})
	}
}

func TestPendingForgetsWhatWasSeen(t *testing.T) {
	var tracker Store
	tracker.Wrote(web, "pods", "12")
	tracker.Wrote(types.NamespacedName{Name: "other"}, "pods", "50")
	if pending(t, &tracker, "11") == "" || pending(t, &tracker, "12") != "" {
		t.Error("a write is pending until the cache has it")
	}
	if got := pending(t, &tracker, "1"); got != "" {
		t.Errorf("the cache had it, and it is pending again: %s", got)
	}
	tracker.Wrote(web, "pods", "60")
	tracker.Forget(web)
	if got := pending(t, &tracker, "1"); got != "" {
		t.Errorf("forgotten, and pending: %s", got)
	}
}

func TestSettle(t *testing.T) {
	var tracker Store
	asked := 0
	find := func(version string, err error) func(podwright.Resource, string) (string, bool, error) {
		return func(resource podwright.Resource, name string) (string, bool, error) {
			if asked++; resource != "pods" || name != "web-1" {
				t.Errorf("asked for %s %s", resource, name)
			}
			return version, false, err
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
	if pending(t, &tracker, "11") == "" {
		t.Error("what was found is not waited for")
	}
	if err := tracker.Settle(web, find("", down)); err != nil {
		t.Errorf("what was found is asked for again: %v", err)
	}
}

// CT-13: what is gone is waited for until the caches do not show it, or are further. Own writes before and after it are waited for all the same.
func TestLeft(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after string // versions that the controller has written
		shown         string
		at            string // how far the cache is
		want          string
	}{
		{"both are shown", "", "", "web-1 web-2", "11", "21"},
		{"one is shown", "", "", "web-2", "11", "21"},
		{"none is shown", "", "", "", "11", ""},
		{"shown, and the cache is further: another has the name", "", "", "web-1 web-2", "21", ""},
		{"a write before", "15", "", "", "11", "15"},
		{"a write before, which is shown", "15", "", "", "15", ""},
		{"a write after", "", "30", "", "25", "30"},
		{"writes before and after", "15", "30", "", "25", "30"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tracker Store
			tracker.Wrote(web, "pods", test.before)
			tracker.Lost(web, "pods", "web-1")
			tracker.Lost(web, "pods", "web-2")
			versions := map[string]string{"web-1": "20", "web-2": "21"}
			if err := tracker.Settle(web, func(_ podwright.Resource, name string) (string, bool, error) { return versions[name], true, nil }); err != nil {
				t.Fatal(err)
			}
			tracker.Wrote(web, "pods", test.after)
			for range 2 {
				if err := tracker.Left(web, func(_ podwright.Resource, name string) (bool, error) { return strings.Contains(test.shown, name), nil }); err != nil {
					t.Fatal(err)
				}
				missing, err := tracker.Pending(web, at(test.at), time.Unix(0, 0))
				if missing.Wrote != test.want || err != nil {
					t.Errorf("waits for %q, want %q; error %v", missing.Wrote, test.want, err)
				}
			}
		})
	}
	var tracker Store
	tracker.Lost(web, "pods", "web-1")
	if err := tracker.Settle(web, func(podwright.Resource, string) (string, bool, error) { return "20", true, nil }); err != nil {
		t.Fatal(err)
	}
	down := errors.New("no cache")
	if err := tracker.Left(web, func(podwright.Resource, string) (bool, error) { return false, down }); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	tracker.Forget(web)
	if err := tracker.Left(web, func(podwright.Resource, string) (bool, error) { return false, down }); err != nil {
		t.Errorf("forgotten, and asked: %v", err)
	}
}

// What cannot be compared is said, not passed over.
func TestVersionsThatCannotBeCompared(t *testing.T) {
	for _, test := range [][2]string{{"x", "1"}, {"1", "x"}, {"abc", "abd"}, {"0", "1"}} {
		var tracker Store
		tracker.Wrote(web, "pods", test[0])
		if missing, err := tracker.Pending(web, at(test[1]), time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), "versions are numbers") {
			t.Errorf("wrote %q, the cache is at %q: missing %v, error %v", test[0], test[1], missing, err)
		}
	}
}

func TestPendingTellsForHowLong(t *testing.T) {
	var tracker Store
	tracker.Wrote(web, "pods", "12")
	start := time.Unix(0, 0)
	for _, after := range []time.Duration{0, time.Second, time.Hour} {
		if missing, err := tracker.Pending(web, at("11"), start.Add(after)); err != nil || missing.For != after {
			t.Errorf("after %v: %v, waited for %v, error %v", after, missing, missing.For, err)
		}
	}
	tracker.Reset(web, "pods", "10") // the server has gone back
	if got := pending(t, &tracker, "9"); !strings.Contains(got, "last own write at 10") {
		t.Errorf("pending: %q", got)
	}
	if missing, err := tracker.Pending(web, at("9"), start.Add(time.Minute)); err != nil || missing.For != time.Minute {
		t.Errorf("the new wait has lasted for %v, error %v", missing.For, err)
	}
	tracker.Reset(web, "pods", "")
	if got := pending(t, &tracker, "9"); got != "" {
		t.Errorf("pending: %q", got)
	}
}

func TestUnseen(t *testing.T) {
	var store Store
	shows := func(names ...string) func(podwright.Resource, string) bool {
		return func(resource podwright.Resource, name string) bool {
			return resource == "pods" && slices.Contains(names, name)
		}
	}
	pod := func(name string) Creation { return Creation{Resource: "pods", Name: name, Owner: "uid"} }
	if got := store.Unseen(web, shows()); len(got) > 0 {
		t.Errorf("nothing was created, and unseen is %v", got)
	}
	store.Created(web, pod("web-0"))
	store.Created(web, pod("web-1"))
	for range 2 {
		if got := store.Unseen(web, shows("web-0")); len(got) != 1 || got[0] != pod("web-1") {
			t.Errorf("unseen is %v, want web-1", got)
		}
	}
	if got := store.Unseen(web, shows("web-1")); len(got) > 0 {
		t.Errorf("what was seen is unseen again: %v", got)
	}
	job := Creation{Resource: "jobs", Name: "web-0", Owner: "uid"}
	store.Created(web, job)
	if got := store.Unseen(web, shows("web-0")); len(got) != 1 || got[0] != job {
		t.Errorf("unseen is %v, want a job that has the name of a pod", got)
	}
	if store.Forget(web); len(store.Unseen(web, shows())) > 0 {
		t.Error("what is forgotten is unseen")
	}
}
