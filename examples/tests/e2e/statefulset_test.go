// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// The tests of StatefulSets are about what those of Kubernetes do not have; for the rest, TestGuarantees compares both.

// statefulSetFixture is a fixture of StatefulSets.
type statefulSetFixture struct{ *fixture[*v1beta1.StatefulSet] }

func newStatefulSetFixture(t *testing.T) *statefulSetFixture {
	t.Helper()
	return steady.statefulSetFixture(t)
}

func (b *bed) statefulSetFixture(t *testing.T) *statefulSetFixture {
	t.Helper()
	return &statefulSetFixture{newFixture(t, b, statefulSetKind)}
}

var statefulSetKind = &kind[*v1beta1.StatefulSet]{
	name: "StatefulSet",
	client: func(of client.Interface, namespace string) clientOf[*v1beta1.StatefulSet] {
		return of.StatefulSets(namespace)
	},
	source: func(of client.Interface, namespace string) mirror.Source {
		return mirror.Of(of.StatefulSets(namespace))
	},
	state: func(set *v1beta1.StatefulSet) state {
		n, held, status := *set.Spec.Replicas, int32(0), &set.Status
		if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
			held = min(n, *rolling.Partition)
		}
		return state{
			replicas: n, observedGeneration: status.ObservedGeneration, status: *status,
			unsettled: status.Replicas != n || status.ReadyReplicas != n || status.AvailableReplicas != n ||
				status.UpdatedReplicas < n-held || held == 0 && status.CurrentRevision != status.UpdateRevision,
		}
	},
}

// What tests add to the spec.
const (
	// parallelInPlace updates two pods at a time in place.
	parallelInPlace = `{podManagementPolicy: Parallel, updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}}`
	// orderedInPlace updates one pod after the other in place.
	orderedInPlace = `{podManagementPolicy: OrderedReady, updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}}`
	// dataClaims gives every pod a claim.
	dataClaims = `{volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}`
)

// statefulSet is one whose pods are those of template, with the readiness gate that in-place updates need.
func statefulSet(replicas int32, edits ...func(*v1beta1.StatefulSet)) *v1beta1.StatefulSet {
	set := &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: v1beta1.StatefulSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: template("web"),
		},
	}
	set.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
	for _, edit := range edits {
		edit(set)
	}
	return set
}

// spec writes fields of the spec, given in YAML, and leaves all others. Lists are replaced.
func (s *statefulSetFixture) spec(text string) func(*v1beta1.StatefulSet) {
	return func(set *v1beta1.StatefulSet) {
		if err := yaml.UnmarshalStrict([]byte(text), &set.Spec); err != nil {
			s.Fatalf("spec: %v in %s", err, text)
		}
	}
}

// mainImage sets the image of the container main.
func mainImage(name string) func(*v1beta1.StatefulSet) {
	return func(set *v1beta1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = name }
}

// acted fails if something else has been done to the pods since the first acts, or in another order.
func (s *statefulSetFixture) acted(rule string, since int, wanted ...string) {
	s.Helper()
	if diff := cmp.Diff(wanted, s.history.acted()[since:]); diff != "" {
		s.Errorf("%s: what has been done to the pods (-expected +observed):\n%s", rule, diff)
	}
}

// startedInOrder fails unless every pod was updated in place, from the highest ordinal down.
func (s *statefulSetFixture) startedInOrder(replicas, maxUnavailable int) {
	s.Helper()
	if wrong := outOfOrder(s.history.acted(), replicas, maxUnavailable); wrong != "" {
		s.Errorf("STS-17: %s", wrong)
	}
}

// outOfOrder says what is wrong if not every pod was updated in place once, from the highest ordinal down. As many pods as
// may be unavailable are updated together, so one may overtake fewer pods than that. A pod that a manager has left behind
// as it died may be overtaken again and again, by one after the other.
func outOfOrder(acts []string, replicas, maxUnavailable int) string {
	var started []string
	for _, act := range acts {
		pod, updated := strings.CutPrefix(act, "update ")
		if !updated {
			continue
		}
		overtaken := 0
		for ordinal := replicas - 1; ordinal >= 0 && fmt.Sprintf("web-%d", ordinal) != pod; ordinal-- {
			if !slices.Contains(started, fmt.Sprintf("web-%d", ordinal)) {
				overtaken++
			}
		}
		if started = append(started, pod); overtaken >= maxUnavailable {
			return fmt.Sprintf("expected %s to overtake %d pods at most, observed %d: the order begins %v", pod, maxUnavailable-1, overtaken, started)
		}
	}
	if len(started) != replicas || len(slices.Compact(slices.Sorted(slices.Values(started)))) != replicas {
		return fmt.Sprintf("expected %d pods to be updated once each, observed %v", replicas, started)
	}
	return ""
}
