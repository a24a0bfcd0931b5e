// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
)

// Protected returns what protects an object from deletion, as its label says; empty
// if nothing does, also if the object is being deleted already. (DP-1, DP-4)
func Protected(object metav1.Object) availabilityv1alpha1.DeletionProtection {
	value := availabilityv1alpha1.DeletionProtection(object.GetLabels()[availabilityv1alpha1.DeletionProtectionLabel])
	if object.GetDeletionTimestamp() != nil ||
		value != availabilityv1alpha1.AlwaysDeletionProtection && value != availabilityv1alpha1.CascadingDeletionProtection {
		return ""
	}
	return value
}

// words begin every refusal, before the value of the label. (DP-5)
const words = "forbidden by ResourcesProtectionDeletion for " + availabilityv1alpha1.DeletionProtectionLabel + "="

// IsProtection tells whether a message is that of a refusal to delete what a label protects.
func IsProtection(message string) bool { return strings.HasPrefix(message, words) }

// Always is why an object must not be deleted that is always protected. (DP-5)
func Always() error { return errors.New(words + string(availabilityv1alpha1.AlwaysDeletionProtection)) }

// Cascading is why an object must not be deleted that is protected while n is above 0,
// the number of what, such as "replicas". It is nil if it is not. (DP-5)
func Cascading(what string, n int) error {
	if n <= 0 {
		return nil
	}
	return fmt.Errorf(words+"%s and %s %d>0", availabilityv1alpha1.CascadingDeletionProtection, what, n)
}

// Deletion returns why a workload must not be deleted, nil if it may. Cascading
// protects it while its replicas, as the spec wants them, are above 0, whatever
// pods there are; nil is none. (DP-8)
func Deletion(object metav1.Object, replicas *int32) error {
	switch Protected(object) {
	case availabilityv1alpha1.AlwaysDeletionProtection:
		return Always()
	case availabilityv1alpha1.CascadingDeletionProtection:
		if replicas != nil {
			return Cascading("replicas", int(*replicas))
		}
	}
	return nil
}
