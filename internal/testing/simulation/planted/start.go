// SPDX-License-Identifier: Apache-2.0

package planted

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// Start returns what starts controllers of a kind that have a bug, by the options of their processes.
func Start[O, S, P any](of fixture.Package[O, S, P], bug simulation.Spoil[O, podwright.Reconciler[S, P]],
	options func(*simulation.Process) (O, error)) func(*simulation.Process) (simulation.Controller, error) {
	return func(p *simulation.Process) (simulation.Controller, error) {
		r, err := bug.Start(p, options, of.NewReconciler)
		if err != nil {
			return simulation.Controller{}, err
		}
		return simulation.Controller{Reconcile: of.Reconcile(r), Unfinished: func() (string, error) { return of.Unfinished(r, fixture.Web) }}, nil
	}
}
