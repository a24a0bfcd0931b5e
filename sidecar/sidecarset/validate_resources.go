// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/sidecar/injection/resources"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// validateResources judges the policy by which the resources of a container are computed. (SCS-V13)
func validateResources(c *v1alpha1.SidecarContainer, init bool, path *field.Path) field.ErrorList {
	policy := c.ResourcesPolicy
	if policy == nil {
		return nil
	}
	path = path.Child("resourcesPolicy")
	errs := validation.Enum(policy.TargetContainersMode, path.Child("targetContainersMode"), v1alpha1.TargetContainersSum, v1alpha1.TargetContainersMax)
	if len(c.Resources.Limits)+len(c.Resources.Requests) > 0 {
		errs = append(errs, field.Forbidden(path, "resourcesPolicy and resources cannot be configured together"))
	}
	if init && !podstate.IsNative(&c.Container) {
		errs = append(errs, field.Forbidden(path, "resourcesPolicy is only supported for init containers with restartPolicy Always"))
	}
	at := path.Child("resourcesExpr")
	if none := (v1alpha1.ResourceExpr{}); (policy.ResourcesExpr.Limits == nil || *policy.ResourcesExpr.Limits == none) &&
		(policy.ResourcesExpr.Requests == nil || *policy.ResourcesExpr.Requests == none) {
		return append(errs, field.Required(at, "at least one of limits or requests must be configured"))
	}
	read, err := resources.NewPolicy(policy)
	if err != nil {
		return append(errs, field.Invalid(path, policy.TargetContainersNameRegex, err.Error()))
	}
	if err := read.Try(); err != nil {
		errs = append(errs, field.Invalid(at, "", err.Error()))
	}
	return errs
}
