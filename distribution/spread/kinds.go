// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/workload"
)

// Whitelist are further kinds of workloads that are spread. (WS-35)
type Whitelist []ListedKind

// ListedKind is a kind of the white list.
type ListedKind struct {
	schema.GroupVersionKind
	// Between are kinds of which objects may stand between such a workload and its pods, beside the kinds that are spread anyway.
	Between []schema.GroupVersionKind
	// ReplicasPath leads to the field that says how many pods it wants, as a path of targetFilter. Empty: spec.replicas.
	ReplicasPath string
}

// ReadWhitelist reads the white list in the data of the ConfigMap kruise-configuration, which may be nil. Without
// the key there is none, and nil is returned. One that cannot be read is an error. (WS-35)
func ReadWhitelist(data map[string]string) (Whitelist, error) {
	list, err := workload.ParseWhitelist(data, v1alpha1.WorkloadSpreadWhitelistKey)
	if err != nil {
		return nil, err
	}
	var kinds Whitelist
	for i := range list {
		kinds = append(kinds, ListedKind{GroupVersionKind: list[i].GroupVersionKind, Between: list[i].SubResources, ReplicasPath: list[i].ReplicasPath})
	}
	return kinds, nil
}

// Allows tells whether workloads of a kind can be spread. The version does not matter. (WS-1, WS-35)
func (l Whitelist) Allows(kind schema.GroupKind) bool {
	known := workload.KindOf(kind)
	return known != nil && known.Spread || slices.ContainsFunc(l, func(listed ListedKind) bool { return listed.GroupKind() == kind })
}
