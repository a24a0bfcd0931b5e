// SPDX-License-Identifier: Apache-2.0

package nodeagent

import "github.com/podwright/podwright"

// Reconciler is a Reconciler whose reconciles start what goes on by itself: pulls of images, and runs of probes.
type Reconciler[S, P any] interface {
	podwright.Reconciler[S, P]
	// Close ends what is under way, and waits for it. Reconcile must not be called afterwards.
	Close()
}
