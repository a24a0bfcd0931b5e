// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/workload"
)

// The kinds that need not be listed: StatefulSets, and Advanced StatefulSets.
var (
	StatefulSets         = workload.StatefulSets
	AdvancedStatefulSets = workload.AdvancedStatefulSets
)

// Whitelist are further kinds whose pods are numbered as those of a StatefulSet.
type Whitelist []schema.GroupVersionKind

// ReadWhitelist reads the white list in the data of the ConfigMap kruise-configuration, which may be nil. Without
// the key there is none, and nil is returned. One that cannot be read is an error. (PPS-2)
func ReadWhitelist(data map[string]string) (Whitelist, error) {
	list, err := workload.ParseWhitelist(data, v1alpha1.PersistentPodStateWhitelistKey)
	if err != nil {
		return nil, err
	}
	var kinds Whitelist
	for i := range list {
		kinds = append(kinds, list[i].GroupVersionKind)
	}
	return kinds, nil
}

// Allows tells whether the pods of a kind can be recorded. The version does not matter. (PPS-2)
func (l Whitelist) Allows(kind schema.GroupKind) bool {
	return kind == StatefulSets || kind == AdvancedStatefulSets ||
		slices.ContainsFunc(l, func(listed schema.GroupVersionKind) bool { return listed.GroupKind() == kind })
}
