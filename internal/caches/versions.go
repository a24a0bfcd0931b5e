// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"errors"

	clientfeatures "k8s.io/client-go/features"
)

// CheckVersions returns an error if informers cannot tell how far they are.
func CheckVersions() error {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return errors.New("the feature AtomicFIFO of client-go is off; informers then cannot tell " +
			"how far they are, and a reconcile could not know whether it sees what the one before has written. Remove KUBE_FEATURE_AtomicFIFO=false")
	}
	return nil
}
