// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"slices"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// requiredKeys are the keys of the topology that pods have to come back to.
func requiredKeys(s *v1alpha1.PersistentPodState) []string {
	if s.Spec.RequiredPersistentTopology == nil {
		return nil
	}
	return s.Spec.RequiredPersistentTopology.NodeTopologyKeys
}

// topologyKeys are all keys of topologies, sorted.
func topologyKeys(s *v1alpha1.PersistentPodState) []string {
	keys := slices.Clone(requiredKeys(s))
	for i := range s.Spec.PreferredPersistentTopology {
		keys = append(keys, s.Spec.PreferredPersistentTopology[i].Preference.NodeTopologyKeys...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func annotationKeys(s *v1alpha1.PersistentPodState) (keys []string) {
	for i := range s.Spec.PersistentPodAnnotations {
		keys = append(keys, s.Spec.PersistentPodAnnotations[i].Key)
	}
	return keys
}
