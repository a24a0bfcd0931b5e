// SPDX-License-Identifier: Apache-2.0

package resource

// Features are what a Controller can do otherwise.
type Features struct {
	// Sources reads spec.sourceRef: the copies have the content of a Secret or ConfigMap that it
	// names, as far as that has the label v1alpha1.ResourceSourceLabel. Default false: nothing is
	// done if it is set. The controller does not check whether a user may copy that source. Turn it on
	// only if Webhook.Access is set, and the API server asks that webhook about every write of a
	// ResourceDistribution.
	// (RD-17, RD-18)
	Sources bool
}
