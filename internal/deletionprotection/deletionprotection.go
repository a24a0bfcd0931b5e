// Package deletionprotection decides whether an object may be deleted that its
// owner protects by a label.
package deletionprotection

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Label protects an object from deletion: "Always", or "Cascading" for as long
// as others depend on it. Any other value protects from nothing.
const Label = "policy.kruise.io/delete-protection"

// Workload returns why a workload must not be deleted, nil if it may. Cascading
// protects it while its replicas, as the spec wants them, are above 0, whatever
// pods there are; nil is none. A workload that is being deleted already is not
// protected.
func Workload(object metav1.Object, replicas *int32) error {
	if object.GetDeletionTimestamp() != nil {
		return nil
	}
	switch protection := object.GetLabels()[Label]; protection {
	case "Always":
		return fmt.Errorf("forbidden by ResourcesProtectionDeletion for %s=%s", Label, protection)
	case "Cascading":
		if replicas != nil && *replicas > 0 {
			return fmt.Errorf("forbidden by ResourcesProtectionDeletion for %s=%s and replicas %d>0", Label, protection, *replicas)
		}
	}
	return nil
}
