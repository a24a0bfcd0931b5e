// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A release switches what it does by default. (LP-17, LP-18)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{KeyBeforeReport: true, MarkCompleted: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// The right to patch pods is asked for if they are marked, and only then. (LP-18)
func TestRulesOfMarks(t *testing.T) {
	for _, on := range []bool{false, true} {
		rules := Rules(Options{Features: Features{MarkCompleted: on}})
		if got := slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, "pods") && slices.Contains(r.Verbs, "patch")
		}); got != on {
			t.Errorf("MarkCompleted %t: rules %v", on, rules)
		}
	}
}

func (c *cluster) marked() bool {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), fixture.Web.Name, metav1.GetOptions{})
	c.Must(err)
	return pod.Annotations[v1alpha1.LaunchPriorityCompletedAnnotation] == "true"
}
