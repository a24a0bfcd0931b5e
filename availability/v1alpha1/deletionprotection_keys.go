// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// DeletionProtectionLabel protects a Namespace, a CustomResourceDefinition or a workload from
// deletion: a DeletionProtection is its value. Any other value protects from nothing.
const DeletionProtectionLabel = "policy.kruise.io/delete-protection"

// DeletionProtection is how an object is protected from deletion.
type DeletionProtection string

// The ways of protection. Upper and lower case differ.
const (
	// AlwaysDeletionProtection protects until the label is taken away.
	AlwaysDeletionProtection DeletionProtection = "Always"
	// CascadingDeletionProtection protects a Namespace while active pods are in it, a
	// CustomResourceDefinition while it has objects, and a workload that wants replicas.
	CascadingDeletionProtection DeletionProtection = "Cascading"
)
