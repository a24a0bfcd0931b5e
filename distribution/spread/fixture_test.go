// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// spreadOf is the WorkloadSpread web of a Deployment, with this spec in YAML beside or instead of
// the target.
func spreadOf(t testing.TB, spec string) *v1alpha1.WorkloadSpread {
	t.Helper()
	ws := &v1alpha1.WorkloadSpread{}
	text := "metadata: {name: web, namespace: shop, generation: 1}\nspec:\n  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
	if err := yaml.Unmarshal([]byte(text), ws); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &ws.Spec); err != nil {
		t.Fatal(err)
	}
	return ws
}

// deployment is the Deployment web.
func deployment(replicas int32) *Workload {
	return &Workload{GroupKind: Deployments, Name: "web", UID: "web", Replicas: &replicas}
}

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// newPod is a pod of the ReplicaSet web-1, in a subset unless that is empty, Running and ready. Words change it.
func newPod(name, subset string, changes ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
		Labels: map[string]string{"pod-template-hash": "1"}, Annotations: map[string]string{},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "web-1", Controller: new(true)}},
	}}
	if subset != "" {
		pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = fmt.Sprintf(`{"name":"web","subset":%q}`, subset)
	}
	pod.Spec.NodeName = "node"
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue,
		LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}}
	if len(changes) > 0 {
		return patches.Changed(words, pod, changes...)
	}
	return pod
}

// some are pods of a subset: "a" gives a0, a1 and so on.
func some(n int, subset string, changes ...string) (pods []*corev1.Pod) {
	for i := range n {
		pods = append(pods, newPod(fmt.Sprint(subset, i), subset, changes...))
	}
	return pods
}

// unnamed is a pod that is about to be created for the ReplicaSet web-1.
func unnamed(changes ...string) *corev1.Pod {
	pod := newPod("", "", changes...)
	pod.UID, pod.Spec.NodeName, pod.Status = "", "", corev1.PodStatus{}
	return pod
}
