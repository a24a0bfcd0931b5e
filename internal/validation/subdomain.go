// SPDX-License-Identifier: Apache-2.0

package validation

import (
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Subdomain refuses the name of a service that no pod can have as its subdomain. The empty name is right: there is none.
func Subdomain(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return nil
	}
	for _, why := range utilvalidation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, "no pod can have this subdomain: "+why))
	}
	return errs
}
