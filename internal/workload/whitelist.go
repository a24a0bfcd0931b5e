// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Listed is a kind of workloads that a white list names.
type Listed struct {
	schema.GroupVersionKind
	// SubResources are kinds that may stand between such a workload and its pods.
	SubResources []schema.GroupVersionKind
	// ReplicasPath leads to the field that says how many pods it wants; empty: the list does not say.
	ReplicasPath string
}

// ParseWhitelist reads a white list from the data of the ConfigMap kruise-configuration, which may be nil: nil without the key.
// The letters of the keys of its JSON may be upper or lower case. The error says how a list is written.
func ParseWhitelist(data map[string]string, key string) ([]Listed, error) {
	text := data[key]
	if text == "" {
		return nil, nil
	}
	var list struct{ Workloads []Listed }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%s is no white list such as {\"workloads\":[{\"Group\":\"g\",\"Version\":\"v\",\"Kind\":\"K\"}]}: %w", key, err)
	}
	return list.Workloads, nil
}
