// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// Kind is what ResourceDistributions are called.
const Kind = "ResourceDistribution"

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Distribution is the ResourceDistribution. Required.
	Distribution *v1alpha1.ResourceDistribution
	// Namespaces are all that exist, in any order.
	Namespaces []*corev1.Namespace
	// Copies are the Secrets and ConfigMaps that it controls, in any order. Others beside
	// them do no harm.
	Copies []*Copy
	// Conflicts are the namespaces in which an object of the name was found that is no
	// copy, and when; nil for none.
	Conflicts map[string]time.Time
	// Contests are the namespaces in which another writer changes or deletes the copy as often as it is put back; nil for none.
	Contests map[string]Contest
	// Sources says that spec.sourceRef is read. Otherwise nothing is done if it is set.
	Sources bool
	// Source is what spec.sourceRef names, a Secret or a ConfigMap; nil if it does not
	// exist, or has not the label v1alpha1.ResourceSourceLabel.
	Source Object
	// HeldSince is when what holds the ResourceDistribution up began, as far as a controller remembers. (RD-25)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// Contest is about a copy that was put back since another writer had changed or deleted it. (RD-21)
type Contest struct {
	// Until is before when it is left alone, Over when it has lasted long enough to be no contest any more.
	Until, Over time.Time
	// Times is how often it was put back: from three times on it is a failure.
	Times int
	// By is the field manager that changed it last; empty if that is not known.
	By string
}

func (c Contest) err() error {
	by := "another writer"
	if c.By != "" {
		by = fmt.Sprintf("field manager %q", c.By)
	}
	return fmt.Errorf("%s changes or deletes the copy whenever it is put back, which is tried less and less often, every 5 minutes in the end", by)
}
