// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// validateOrdinals checks with which number ordinals begin, and which are reserved. (STS-31, STS-32)
func validateOrdinals(spec *v1beta1.StatefulSetSpec, path *field.Path, features Features) (errs field.ErrorList) {
	if o := spec.Ordinals; o != nil && o.Start < 0 {
		errs = append(errs, field.Invalid(path.Child("ordinals", "start"), o.Start, "must be 0 or more"))
	}
	path = path.Child("reserveOrdinals")
	entries := spec.Reserved()
	seen := make(map[int]bool, len(entries))
	for i := range entries {
		entry := &entries[i]
		reserved, err := workload.ParseReservedEntry(entry)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(path.Index(i), entry.String(), "must be a number, or a range of numbers such as \"5-7\" whose first is not higher than its last"))
		case reserved.First < 0:
			errs = append(errs, field.Invalid(path.Index(i), reserved.First, "must be 0 or more"))
		case entry.Type == intstr.Int && seen[reserved.First] && !features.RepeatedOrdinals:
			errs = append(errs, field.Duplicate(path.Index(i), reserved.First))
		}
		seen[reserved.First] = seen[reserved.First] || err == nil && entry.Type == intstr.Int
	}
	return errs
}
