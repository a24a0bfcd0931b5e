// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	corev1 "k8s.io/api/core/v1"
)

// Snapshot is everything that a plan depends on. Nothing in this package
// changes its objects.
type Snapshot struct {
	// Pod is shared with the cache. Required.
	Pod *corev1.Pod
	// ConfigMap is the one that is named after the pod, whatever its owner; nil
	// if there is none.
	ConfigMap *corev1.ConfigMap
	// Features switches behaviour.
	Features Features
}

// relation says what a ConfigMap is to a pod.
type relation int

const (
	absent  relation = iota
	own              // it belongs to the pod
	leaving          // it belonged to a former pod of the same name, or is being deleted
	foreign          // it is something else
)

func (s *Snapshot) relation() relation {
	if s.ConfigMap == nil {
		return absent
	}
	if s.ConfigMap.DeletionTimestamp != nil {
		return leaving
	}
	is := foreign
	for _, owner := range s.ConfigMap.OwnerReferences {
		if owner.UID == s.Pod.UID {
			return own
		}
		if owner.Kind == "Pod" && owner.Name == s.Pod.Name {
			is = leaving
		}
	}
	return is
}

// has tells whether a key stands in the ConfigMap.
func (s *Snapshot) has(key string) bool {
	if s.ConfigMap == nil {
		return false
	}
	_, found := s.ConfigMap.Data[key]
	return found
}
