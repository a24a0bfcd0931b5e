// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"math/rand/v2"
	"net/http"

	"k8s.io/client-go/rest"
)

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
