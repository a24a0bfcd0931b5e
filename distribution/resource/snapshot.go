// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
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
	// Sources says that spec.sourceRef is read. Otherwise nothing is done where it is set.
	Sources bool
	// Source is what spec.sourceRef names, a Secret or a ConfigMap; nil where it does not
	// exist, or has not the label v1alpha1.ResourceSourceLabel.
	Source Object
	// Now is the time for which to plan.
	Now time.Time
}
