// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"errors"

	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/consistency"
)

// CheckVersions returns an error where informers cannot tell how far they are.
func CheckVersions() error {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return errors.New("the feature AtomicFIFO of client-go is off; informers then cannot tell " +
			"how far they are, and a reconcile could not know whether it sees what the one before has written. Remove KUBE_FEATURE_AtomicFIFO=false")
	}
	return nil
}

// Stores are the stores of the caches that a controller reads.
type Stores map[consistency.Resource]cache.Store

// SyncedResourceVersion returns the resourceVersion up to which a cache is
// complete, empty when it cannot tell or is not known.
func (s Stores) SyncedResourceVersion(resource consistency.Resource) string {
	store, found := s[resource]
	if !found {
		return ""
	}
	return store.LastStoreSyncResourceVersion()
}
