// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Bug is a workload whose controller has a bug.
type Bug struct {
	Name     string
	Breaks   invariants.Invariant
	Workload *Subject
	// First is the seed to begin with: one that found the bug before. It saves time, and
	// nothing else; the log of the test tells which one finds it now.
	First uint64
}

// FindBugs plays seeds with each bug until one breaks the invariant that the bug
// breaks. A bug that none of seedsOfBugs from First on finds is a failure.
func FindBugs(t *testing.T, bugs []Bug) {
	t.Helper()
	plant := Plant(t, func(w *Subject) *Subject { return w })
	for _, bug := range bugs {
		plant(bug.Name, bug.Breaks, bug.First, bug.Workload)
	}
}

// Plant returns what plants bugs into the workload that of makes of them. Each is a subtest like those of FindBugs, whose first seed
// is first.
func Plant[B any](t *testing.T, of func(B) *Subject) func(name string, breaks invariants.Invariant, first uint64, bug B) {
	t.Helper()
	collectLess(t)
	return func(name string, breaks invariants.Invariant, first uint64, bug B) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			find(t, of(bug), breaks, first)
		})
	}
}

func find(t *testing.T, w *Subject, breaks invariants.Invariant, first uint64) {
	t.Helper()
	others := map[invariants.Invariant]int{}
	for i := range uint64(seedsOfBugs) {
		seed := first + i
		o := run(t, w, seed, Steps)
		if o.failedFor(breaks) {
			t.Logf("found by seed %d", seed)
			return
		}
		for _, v := range o.Violations {
			others[v.Invariant]++
		}
	}
	t.Errorf("no violation of %q in %d seeds; of others: %v", breaks, seedsOfBugs, others)
}

// ChangeBodies is for the Wrap of a rest.Config: requests have another body if a function says so of them.
func ChangeBodies(of func(*http.Request) bool, change func(body []byte) ([]byte, error)) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if !of(r) {
				return next.RoundTrip(r)
			}
			var data []byte
			var err error
			if r.Body != nil {
				data, err = io.ReadAll(r.Body)
			}
			if err == nil {
				data, err = change(data)
			}
			if err != nil {
				return nil, err
			}
			r = r.Clone(r.Context())
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
			return next.RoundTrip(r)
		})
	}
}

// SpoilDeletions is for the Wrap of a rest.Config: every deletion has a body that
// is not its own.
func SpoilDeletions(body string) func(http.RoundTripper) http.RoundTripper {
	return ChangeBodies(func(r *http.Request) bool { return r.Method == http.MethodDelete }, func([]byte) ([]byte, error) { return []byte(body), nil })
}

// SpoilBodies is for the Wrap of a rest.Config: what requests with a verb about a
// resource say is changed.
func SpoilBodies(method, resource string, spoil func(body map[string]any)) func(http.RoundTripper) http.RoundTripper {
	of := func(r *http.Request) bool {
		return r.Method == method && strings.Contains(r.URL.Path+"/", "/"+resource+"/") && r.Body != nil
	}
	return ChangeBodies(of, func(data []byte) ([]byte, error) {
		var body map[string]any
		if err := json.Unmarshal(data, &body); err != nil {
			return nil, err
		}
		spoil(body)
		return json.Marshal(body)
	})
}

// Forget is for SpoilBodies: it drops a field.
func Forget(of, field string) func(map[string]any) {
	return func(body map[string]any) {
		if within, ok := body[of].(map[string]any); ok {
			delete(within, field)
		}
	}
}

// Forgetting is for the Wrap of a rest.Config. Bodies of requests with a verb about a resource lack a field, such as one of the metadata.
func Forgetting(method, resource, of, field string) func(http.RoundTripper) http.RoundTripper {
	return SpoilBodies(method, resource, Forget(of, field))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// HideCauses is for the Wrap of a rest.Config: what is forbidden comes without its cause.
func HideCauses(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if err != nil || response.StatusCode != http.StatusForbidden {
			return response, err
		}
		defer response.Body.Close()
		var status map[string]any
		if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
			return nil, err
		}
		Forget("details", "causes")(status)
		data, err := json.Marshal(status)
		response.Body = io.NopCloser(bytes.NewReader(data))
		return response, err
	})
}

// Spoil plants a bug into a controller at points of its start; nil leaves it unchanged.
// O are the options of the kind, and R is its Reconciler.
type Spoil[O, R any] struct {
	Config     func(*rest.Config)
	Options    func(*O)
	Reconciler func(R)
	// Often is what users do half of the time, if the bug would seldom show.
	Often func(*User, *rand.Rand)
}

// Act returns what users do in a step, who do act without the bug.
func (s *Spoil[O, R]) Act(act func(*User, *rand.Rand)) func(*User, *rand.Rand) {
	if s.Often == nil {
		return act
	}
	return func(u *User, r *rand.Rand) {
		if r.IntN(2) == 0 {
			s.Often(u, r)
			return
		}
		act(u, r)
	}
}

// Start makes the Reconciler of a process.
func (s *Spoil[O, R]) Start(p *Process, options func(*Process) (O, error), newReconciler func(O) (R, error)) (r R, err error) {
	if s.Config != nil {
		s.Config(p.Config)
	}
	o, err := options(p)
	if err != nil {
		return r, err
	}
	if s.Options != nil {
		s.Options(&o)
	}
	r, err = newReconciler(o)
	if err == nil && s.Reconciler != nil {
		s.Reconciler(r)
	}
	return r, err
}

// OnWire is a bug in the requests of a controller, for which wrap stands between it and the API server.
func OnWire[O, R any](wrap func(http.RoundTripper) http.RoundTripper) Spoil[O, R] {
	return Spoil[O, R]{Config: func(c *rest.Config) { c.Wrap(wrap) }}
}

// While is the bug while users do something half of the time.
func (s Spoil[O, R]) While(often func(*User, *rand.Rand)) Spoil[O, R] {
	s.Often = often
	return s
}
