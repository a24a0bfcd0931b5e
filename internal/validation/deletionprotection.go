// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeletionProtection is the label that protects an object from deletion: "Always", or "Cascading" for as long
// as others depend on it. Any other value protects from nothing.
const DeletionProtection = "policy.kruise.io/delete-protection"

// Deletion returns why a workload must not be deleted, nil if it may. Cascading
// protects it while its replicas, as the spec wants them, are above 0, whatever
// pods there are; nil is none. A workload that is being deleted already is not
// protected.
func Deletion(object metav1.Object, replicas *int32) error {
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	switch protection := object.GetLabels()[DeletionProtection]; protection {
	case "Always":
		return fmt.Errorf("forbidden by ResourcesProtectionDeletion for %s=%s", DeletionProtection, protection)
	case "Cascading":
		if replicas != nil && *replicas > 0 {
			return fmt.Errorf("forbidden by ResourcesProtectionDeletion for %s=%s and replicas %d>0", DeletionProtection, protection, *replicas)
		}
	}
	return nil
}
