// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"encoding/json"
	"fmt"
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
	text := data[v1alpha1.PersistentPodStateWhitelistKey]
	if text == "" {
		return nil, nil
	}
	var list struct{ Workloads []schema.GroupVersionKind }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%s is no white list such as {\"workloads\":[{\"Group\":\"g\",\"Version\":\"v\",\"Kind\":\"K\"}]}: %w",
			v1alpha1.PersistentPodStateWhitelistKey, err)
	}
	return list.Workloads, nil
}

// Allows tells whether the pods of a kind can be recorded. The version does not matter. (PPS-2)
func (l Whitelist) Allows(kind schema.GroupKind) bool {
	return kind == StatefulSets || kind == AdvancedStatefulSets ||
		slices.ContainsFunc(l, func(listed schema.GroupVersionKind) bool { return listed.GroupKind() == kind })
}
