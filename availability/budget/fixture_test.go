// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

var start = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// newPod is a pod that serves, of the CloneSet web.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": "web"},
			Annotations:     map[string]string{v1alpha1.RelatedPubAnnotation: "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "web", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", ImageID: "nginx@sha256:aa", Ready: true}},
		},
	}
}

// newPods are pods that serve, pod-0 and so on.
func newPods(n int) (pods []*corev1.Pod) {
	for i := range n {
		pods = append(pods, newPod(fmt.Sprintf("pod-%d", i)))
	}
	return pods
}

// newBudget is a budget of the pods of the CloneSet web, whose status was written.
func newBudget() *v1alpha1.PodUnavailableBudget {
	return &v1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2},
		Spec: v1alpha1.PodUnavailableBudgetSpec{
			TargetReference: &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"},
			MaxUnavailable:  ptr.To(intstr.FromInt32(1)),
		},
		Status: v1alpha1.PodUnavailableBudgetStatus{
			ObservedGeneration: 2, TotalReplicas: 10, DesiredAvailable: 9, CurrentAvailable: 10, UnavailableAllowed: 1,
		},
	}
}

// given is what the lines of a command say. Patches are in YAML, and what they have null for is gone.
//
//	budget PATCH       merges into the budget, which is of the CloneSet web and lets one of ten pods go
//	no-budget          there is no budget
//	records 2001       so many pods are recorded, one of them for an update
//	pods 9 PATCH       there are the pods pod-0, pod-1 and so on, of the CloneSet web, which serve
//	pod NAME [of=VERSION/KIND/NAME] PATCH
//	                   there is one more pod, of another owner, or none
//	stranger NAME PATCH
//	                   there is a pod that is none of the budget's, though it may match
//	workload KIND.GROUP NAME PATCH
//	                   there is a workload, whose UID is its name
//	beside NAME PATCH  there is another budget
//	disruption NAME SELECTOR
//	                   there is a PodDisruptionBudget
type given struct {
	budget          *v1alpha1.PodUnavailableBudget
	beside          []*v1alpha1.PodUnavailableBudget
	pods, strangers []*corev1.Pod
	workloads       budget.Workloads
	disruptions     []*policyv1.PodDisruptionBudget
}

func read(t *testing.T, d *datadriven.TestData) *given {
	t.Helper()
	g := &given{budget: newBudget(), workloads: budget.Workloads{}}
	for line := range strings.Lines(d.Input) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, patch, _ := strings.Cut(rest, " ")
		switch word {
		case "budget":
			patches.Merge(t, g.budget, rest)
		case "no-budget":
			g.budget = nil
		case "records":
			record(g.budget, patches.Number(t, rest))
		case "pods":
			for _, pod := range newPods(patches.Number(t, name)) {
				g.pods = append(g.pods, merged(t, pod, patch))
			}
		case "pod":
			g.pods = append(g.pods, merged(t, newPod(name), patch))
		case "stranger":
			g.strangers = append(g.strangers, merged(t, newPod(name), patch))
		case "workload":
			kind := schema.ParseGroupKind(name)
			name, patch, _ = strings.Cut(patch, " ")
			w := merged(t, &budget.Workload{GroupKind: kind, Name: name, UID: types.UID(name)}, patch)
			g.workloads[w.UID] = w
		case "beside":
			b := newBudget()
			b.Name = name
			g.beside = append(g.beside, merged(t, b, patch))
		case "disruption":
			other := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}}
			g.disruptions = append(g.disruptions, merged(t, other, `{spec: {selector: `+patch+`}}`))
		default:
			d.Fatalf(t, "no line %s", word)
		}
	}
	return g
}

// merged has a patch merged into an object. Before the patch may stand the owner of a pod.
func merged[T any](t *testing.T, object *T, patch string) *T {
	t.Helper()
	if of, rest, _ := strings.Cut(patch, " "); strings.HasPrefix(of, "of=") {
		version, name := path.Split(of[len("of="):])
		version, kind := path.Split(strings.TrimSuffix(version, "/"))
		owners := fmt.Sprintf("[{apiVersion: %q, kind: %q, name: %q, uid: %q, controller: true}]", strings.TrimSuffix(version, "/"), kind, name, name)
		if name == "none" {
			owners = "null"
		}
		patches.Merge(t, object, "{metadata: {ownerReferences: "+owners+"}}")
		patch = rest
	}
	if patch != "" {
		patches.Merge(t, object, patch)
	}
	return object
}

// record has a budget have so many pods recorded.
func record(b *v1alpha1.PodUnavailableBudget, n int) {
	b.Status.DisruptedPods, b.Status.UnavailablePods = map[string]metav1.Time{}, map[string]metav1.Time{"x": {}}
	for i := range n - 1 {
		b.Status.DisruptedPods[fmt.Sprint(i)] = metav1.NewTime(start)
	}
}
