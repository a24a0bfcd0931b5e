// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Refusals are the updates in place that the API server has refused, as far as a
// controller remembers. The zero Refusals are none.
type Refusals struct {
	// Until is when the next update in place of the workload may be tried. Zero,
	// as any time that has come, stands for now.
	Until time.Time
	// Pods says why the last updates of pods were refused. Where the order is open,
	// those pods are updated after all others.
	Pods map[types.UID]error
	// Err says it in short; nil where nothing was refused.
	Err error
}

// Any tells whether an update has been refused since the last one was served.
func (r *Refusals) Any() bool { return !r.Until.IsZero() }
