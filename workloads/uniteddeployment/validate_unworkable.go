// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// unworkable refuses what OpenKruise takes and makes subsets without a workload or without pods. That is tolerations and
// expressions that the API server takes in no pod, or that no node matches. It is also what the kinds of the workloads
// refuse as unworkable. (UD-26)
func unworkable(spec *v1alpha1.UnitedDeploymentSpec) (errs field.ErrorList) {
	path := field.NewPath("spec", "template", templateField(&spec.Template), "spec")
	switch t := &spec.Template; {
	case t.StatefulSetTemplate != nil:
		errs = validation.Subdomain(t.StatefulSetTemplate.Spec.ServiceName, path.Child("serviceName"))
	case t.AdvancedStatefulSetTemplate != nil:
		s := &t.AdvancedStatefulSetTemplate.Spec
		errs = append(validation.Subdomain(s.ServiceName, path.Child("serviceName")), validation.Lifecycle(s.Lifecycle, path.Child("lifecycle"), "preDelete", "inPlaceUpdate")...)
	case t.CloneSetTemplate != nil:
		s := &t.CloneSetTemplate.Spec
		errs = append(validation.Number(s.ScaleStrategy.MaxUnavailable, path.Child("scaleStrategy", "maxUnavailable")), validation.Lifecycle(s.Lifecycle, path.Child("lifecycle"), validation.Hooks...)...)
	}
	for i := range spec.Topology.Subsets {
		subset, at := &spec.Topology.Subsets[i], topologyPath.Index(i)
		for j := range subset.NodeSelectorTerm.MatchExpressions {
			e, at := &subset.NodeSelectorTerm.MatchExpressions[j], at.Child("nodeSelectorTerm", "matchExpressions").Index(j)
			if len(validateExpression(e, at)) == 0 {
				errs = append(errs, nodefit.CheckRequirement(e, at)...)
			}
		}
		for j := range subset.Tolerations {
			errs = append(errs, nodefit.CheckToleration(&subset.Tolerations[j], at.Child("tolerations").Index(j))...)
		}
	}
	return errs
}
