// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemonSetFixture is a fixture of DaemonSets, whose nodes have the namespace for a label.
type daemonSetFixture struct {
	*fixture[*v1alpha1.DaemonSet]
}

func newDaemonSetFixture(t *testing.T, nodes ...string) *daemonSetFixture {
	t.Helper()
	return daemonSetFixtureOn(t, steady, nodes...)
}

func daemonSetFixtureOn(t *testing.T, b *bed, nodes ...string) *daemonSetFixture {
	t.Helper()
	s := &daemonSetFixture{newFixture(t, b, daemonSetKind)}
	for _, name := range nodes {
		s.choose(name, `"yes"`)
		s.Cleanup(func() { s.choose(name, `null`) })
	}
	return s
}

var daemonSetKind = &kind[*v1alpha1.DaemonSet]{
	name: "DaemonSet",
	client: func(of client.Interface, namespace string) clientOf[*v1alpha1.DaemonSet] {
		return of.DaemonSets(namespace)
	},
	source: func(of client.Interface, namespace string) mirror.Source {
		return mirror.Of(of.DaemonSets(namespace))
	},
	state: func(set *v1alpha1.DaemonSet) state {
		s := &set.Status
		return state{replicas: s.DesiredNumberScheduled, observedGeneration: s.ObservedGeneration, status: *s,
			unsettled: s.NumberAvailable != s.DesiredNumberScheduled || s.UpdatedNumberScheduled != s.DesiredNumberScheduled || s.NumberMisscheduled != 0}
	},
}

// choose makes a node one of the test's, or not.
func (s *daemonSetFixture) choose(node, value string) {
	s.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, s.Namespace, value)
	if _, err := s.Core.CoreV1().Nodes().Patch(context.Background(), node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// daemonSet is one for the nodes of the test.
func (s *daemonSetFixture) daemonSet(name string, edits ...func(*v1alpha1.DaemonSet)) *v1alpha1.DaemonSet {
	set := &v1alpha1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name),
			UpdateStrategy: v1alpha1.DaemonSetUpdateStrategy{RollingUpdate: &v1alpha1.RollingUpdateDaemonSet{}},
		},
	}
	set.Spec.Template.Spec.NodeSelector = map[string]string{s.Namespace: "yes"}
	for _, edit := range edits {
		edit(set)
	}
	return set
}

// awaitOn waits until the active pods are these, one for each node, shown as "node image".
func (s *daemonSetFixture) awaitOn(set string, want ...string) {
	s.Helper()
	s.awaitStatus(set, fmt.Sprintf("the pods of %s are %q", set, want), func(stored *v1alpha1.DaemonSet) string {
		var got []string
		for _, pod := range s.owned(set) {
			got = append(got, pod.Spec.NodeName+" "+pod.Spec.Containers[0].Image)
		}
		slices.Sort(got)
		if available := int(stored.Status.NumberAvailable); !slices.Equal(got, want) || available != len(want) || s.inService(set) != len(want) {
			return fmt.Sprintf("%q, status %+v", got, stored.Status)
		}
		return ""
	})
}

func setImageOfDaemonSet(image string) func(*v1alpha1.DaemonSet) {
	return func(set *v1alpha1.DaemonSet) { set.Spec.Template.Spec.Containers[0].Image = image }
}

// DS-3, DS-5, DS-9, DS-11, DS-17: each node has a pod, bound by the scheduler. A partition holds for pods that are evicted.
// Nodes begin to fit, and cease to fit.
func TestDaemonSetRunsOnEveryNode(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t, "node-0", "node-1", "node-2")
	old := template("d").Spec.Containers[0].Image
	s.create(s.daemonSet("d"))
	s.awaitOn("d", "node-0 "+old, "node-1 "+old, "node-2 "+old)
	for _, pod := range s.owned("d") {
		if pod.Spec.SchedulerName != corev1.DefaultSchedulerName || len(pod.Spec.Tolerations) < 6 {
			t.Errorf("pod %s is bound by %s, and tolerates %v", pod.Name, pod.Spec.SchedulerName, pod.Spec.Tolerations)
		}
	}
	s.edit("d", setImageOfDaemonSet("shop:v2"), func(set *v1alpha1.DaemonSet) {
		set.Spec.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromInt32(1))
	})
	s.awaitOn("d", "node-0 "+old, "node-1 shop:v2", "node-2 shop:v2")
	for _, pod := range s.owned("d") {
		if pod.Spec.NodeName == "node-0" {
			s.DeletePod(pod.Name)
			s.AwaitGone(pod, "it was deleted")
		}
	}
	s.awaitOn("d", "node-0 "+old, "node-1 shop:v2", "node-2 shop:v2")
	s.choose("node-1", `null`)
	s.awaitOn("d", "node-0 "+old, "node-2 shop:v2")
	s.edit("d", func(set *v1alpha1.DaemonSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = nil })
	s.choose("node-1", `"yes"`)
	s.awaitOn("d", "node-0 shop:v2", "node-1 shop:v2", "node-2 shop:v2")
	if set := s.set("d"); set.Status.CurrentRevision != "d-"+set.Status.DaemonSetHash {
		t.Errorf("DS-5: current revision %s, hash %s", set.Status.CurrentRevision, set.Status.DaemonSetHash)
	}
}

// DS-13, DS-15: pods are updated in place, with three writes each.
func TestDaemonSetUpdatesInPlace(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t, "node-0", "node-1")
	s.create(s.daemonSet("d", func(set *v1alpha1.DaemonSet) {
		set.Spec.UpdateStrategy.RollingUpdate.Type = v1alpha1.InplaceRollingUpdateType
	}))
	s.awaitSettled("d")
	before := s.owned("d")
	s.edit("d", setImageOfDaemonSet("shop:v2"))
	s.awaitOn("d", "node-0 shop:v2", "node-1 shop:v2")
	for i, pod := range s.owned("d") {
		if pod.UID != before[i].UID {
			t.Errorf("DS-13: pod %s is another one", pod.Name)
		}
	}
}

// DS-14: a second pod surges.
func TestDaemonSetSurges(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t, "node-0", "node-1")
	s.create(s.daemonSet("d", func(set *v1alpha1.DaemonSet) {
		set.Spec.UpdateStrategy.RollingUpdate.MaxSurge = new(intstr.FromInt32(1))
	}))
	s.awaitSettled("d")
	s.expect("d", 2, 3)
	s.edit("d", setImageOfDaemonSet("shop:v2"))
	s.awaitOn("d", "node-0 shop:v2", "node-1 shop:v2")
	s.keptBudget("d")
}

// DS-3, DS-CR4: the pods of a DaemonSet of Kubernetes that was deleted without them are adopted by the one that takes its place.
func TestDaemonSetAdoptsThoseOfKubernetes(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t, "node-0")
	set := s.daemonSet("d")
	builtin := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DaemonSetSpec{Selector: set.Spec.Selector, Template: set.Spec.Template}}
	apps := s.Core.AppsV1().DaemonSets(s.Namespace)
	if _, err := apps.Create(t.Context(), builtin, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var left *corev1.Pod
	s.Await("a pod of the DaemonSet of Kubernetes is in service", func() string {
		if pods := s.owned("d"); len(pods) == 1 && s.inService("d") == 1 {
			left = pods[0]
			return ""
		}
		return fmt.Sprint(s.Pods.All())
	})
	if err := apps.Delete(t.Context(), "d", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}); err != nil {
		t.Fatal(err)
	}
	s.AwaitPod(left.Name, "it is an orphan", func(pod *corev1.Pod) string { return fmt.Sprint(strings.Repeat("owned", len(pod.OwnerReferences))) })
	s.create(s.daemonSet("d", func(set *v1alpha1.DaemonSet) {
		set.Spec.UpdateStrategy = v1alpha1.DaemonSetUpdateStrategy{Type: v1alpha1.OnDeleteDaemonSetStrategyType}
	}))
	s.AwaitPod(left.Name, "it is adopted", func(pod *corev1.Pod) string {
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.APIVersion != v1alpha1.SchemeGroupVersion.String() {
			return fmt.Sprint("it belongs to ", owner)
		}
		return ""
	})
}

// DS-CR7: the name of the revision is taken.
func TestDaemonSetRevisionNameIsTaken(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t, "node-0")
	s.create(s.daemonSet("d"))
	s.awaitSettled("d")
	taken := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "d-" + s.set("d").Status.DaemonSetHash}, Data: runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}
	if err := s.client.Delete(t.Context(), "d", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	s.Await("nothing is left", func() string {
		return strings.Repeat("a DaemonSet ", len(s.sets.All())) + strings.Repeat("a revision ", len(s.Revisions.All()))
	})
	if _, err := s.Core.AppsV1().ControllerRevisions(s.Namespace).Create(t.Context(), taken, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.create(s.daemonSet("d"))
	s.awaitSettled("d")
	if status := s.set("d").Status; status.CollisionCount == nil || *status.CollisionCount != 1 || "d-"+status.DaemonSetHash == taken.Name {
		t.Errorf("status %+v, the name %s was taken", status, taken.Name)
	}
}

// DS-V1, DS-V2: the webhook and the CRD.
func TestDaemonSetAdmission(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t)
	stored := s.create(s.daemonSet("good"))
	rolling := stored.Spec.UpdateStrategy.RollingUpdate
	if stored.Spec.BurstReplicas.IntValue() != 250 || *stored.Spec.RevisionHistoryLimit != 10 || rolling.Type != v1alpha1.StandardRollingUpdateType || rolling.MaxUnavailable.IntValue() != 1 {
		t.Errorf("defaulted to %+v", stored.Spec)
	}
	if stored.Spec.Template.Spec.RestartPolicy != "" {
		t.Errorf("the template is defaulted: %+v", stored.Spec.Template.Spec)
	}
	for want, edit := range map[string]func(*v1alpha1.DaemonSet){
		"spec.updateStrategy.rollingUpdate.maxSurge": func(set *v1alpha1.DaemonSet) {
			set.Spec.UpdateStrategy.RollingUpdate.MaxSurge, set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(1)), new(intstr.FromInt32(1))
		},
		"spec.template.metadata.labels":                    func(set *v1alpha1.DaemonSet) { set.Spec.Template.Labels = map[string]string{"app": "other"} },
		"spec.template.spec.containers[0].imagePullPolicy": func(set *v1alpha1.DaemonSet) { set.Spec.Template.Spec.Containers[0].ImagePullPolicy = "Sometimes" },
	} {
		if _, err := s.client.Create(t.Context(), s.daemonSet("bad", edit), metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
}
