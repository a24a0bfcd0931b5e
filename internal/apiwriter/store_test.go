// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
)

var (
	web     = types.NamespacedName{Namespace: "default", Name: "web"}
	errDown = errors.New("connection refused")
)

// TestStore shows in testdata/store.txt what a Store says:
//
//	wrote 12, reset 10                    a version that the object has written, or whose server has gone back; none is none
//	pending 11 1s                         what a cache at a version lacks, a time after the beginning
//	lost web-1                            a write of it had no answer
//	settle web-1=12 web-2=20:gone         what is asked for, and how it is found, or "down"
//	left web-1                            what caches still show, or "down"
//	created pods/web-0, unseen pods/web-0 what was created, and what is not seen by caches that have the named
//	forget                                the object is gone
//
// Writes of another object are beside it all the time, and change nothing.
func TestStore(t *testing.T) {
	datadriven.RunTest(t, "testdata/store.txt", func(t *testing.T, d *datadriven.TestData) string {
		var store Store
		store.Wrote(types.NamespacedName{Name: "other"}, "pods", "50")
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			words := strings.Fields(line)
			if said := step(t, &store, words[0], words[1:]); said != "" {
				fmt.Fprintf(&out, "%s: %s\n", strings.TrimSpace(line), said)
			}
		}
		return out.String()
	})
}

// step does a step, and returns what the store says.
func step(t *testing.T, store *Store, name string, words []string) string {
	t.Helper()
	first := strings.Join(words[:min(1, len(words))], "")
	down := first == "down"
	switch name {
	case "wrote":
		store.Wrote(web, "pods", first)
	case "reset":
		store.Reset(web, "pods", first)
	case "forget":
		store.Forget(web)
	case "lost":
		store.Lost(web, "pods", first)
	case "created":
		store.Created(web, creation(first))
	case "unseen":
		unseen := store.Unseen(web, func(resource podwright.Resource, name string) bool {
			return slices.Contains(words, string(resource)+"/"+name)
		})
		return cmp.Or(strings.Trim(fmt.Sprint(unseen), "[]"), "nothing")
	case "pending":
		return pending(t, store, first, words)
	case "settle":
		return settle(store, words, down)
	case "left":
		err := store.Left(web, func(_ podwright.Resource, name string) (bool, error) {
			if down {
				return false, errDown
			}
			return slices.Contains(words, name), nil
		})
		return said(err, down)
	default:
		t.Fatalf("unknown step %s", name)
	}
	return ""
}

func creation(text string) Creation {
	resource, name, _ := strings.Cut(text, "/")
	return Creation{Resource: podwright.Resource(resource), Name: name, Owner: "uid"}
}

// said is an error, or that there is none although the API server is down.
func said(err error, down bool) string {
	switch {
	case err != nil && !errors.Is(err, errDown):
		return "another error: " + err.Error()
	case err != nil:
		return err.Error()
	case down:
		return "nothing is asked"
	}
	return ""
}

func pending(t *testing.T, store *Store, version string, words []string) string {
	t.Helper()
	var after time.Duration
	if len(words) > 1 {
		var err error
		if after, err = time.ParseDuration(words[1]); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := store.Pending(web, func(podwright.Resource) string { return version }, time.Unix(0, 0).Add(after))
	switch {
	case err != nil:
		return err.Error()
	case missing == (Missing{}):
		return "nothing"
	}
	return fmt.Sprintf("%s, for %s", missing, missing.For)
}

func settle(store *Store, answers []string, down bool) string {
	var asked []string
	err := store.Settle(web, func(resource podwright.Resource, name string) (string, bool, error) {
		if asked = append(asked, fmt.Sprint(resource, " ", name)); down {
			return "", false, errDown
		}
		for _, answer := range answers {
			if version, found := strings.CutPrefix(answer, name+"="); found {
				version, gone := strings.CutSuffix(version, ":gone")
				return version, gone, nil
			}
		}
		return "", false, nil
	})
	slices.Sort(asked)
	return strings.TrimSpace(fmt.Sprint("asked for ", asked, " ", said(err, down && len(asked) == 0)))
}
