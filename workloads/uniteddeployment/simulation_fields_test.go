// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.UnitedDeployment]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"topology.subsets[].nodeSelectorTerm": `{"topology":{"subsets":[{"name":"a","nodeSelectorTerm":{"matchExpressions":[{"key":"zone","operator":"Exists"}]}}]}}`,
		"topology.subsets[].tolerations":      `{"topology":{"subsets":[{"name":"b","nodeSelectorTerm":{"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]}}]}}`,
		"selector":                            `{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}`,
	}, Elsewhere: map[string]string{
		"template.advancedStatefulSetTemplate.metadata": "TestEveryFieldOfATemplateReachesTheWorkload", "template.advancedStatefulSetTemplate.spec": "TestEveryFieldOfATemplateReachesTheWorkload",
		"topology.scheduleStrategy.adaptive.unschedulableLastSeconds": "TestZones",
	}}, simulated(&bug{}), adaptiveSimulated(&bug{}))
}
