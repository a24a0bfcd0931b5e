// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// What a copy that a ResourceDistribution keeps says of itself.
const (
	// ResourceDistributedFromAnnotation is the name of the ResourceDistribution.
	ResourceDistributedFromAnnotation = "kruise.io/resourcedistribution.resource.from"
	// ResourceHashCodeAnnotation is the SHA-256, in lower-case hexadecimal digits, of
	// spec.resource as the API server has it when the copy is written.
	ResourceHashCodeAnnotation = "kruise.io/resourcedistribution.resource.hashcode"
	// ResourceCopyLabel marks copies, so that the other Secrets and ConfigMaps of a
	// cluster need not be watched. Its presence counts, whatever the value.
	ResourceCopyLabel = "resourcedistribution.podwright.io/copy"
)

// ResourceSourceLabel marks Secrets and ConfigMaps that may be named in spec.sourceRef:
// with it, who owns them lets them be distributed. Its presence counts, whatever the value.
const ResourceSourceLabel = "resourcedistribution.podwright.io/source"
