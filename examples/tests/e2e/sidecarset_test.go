// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecarFixture is a namespace whose pods with the label app=web are injected into.
type sidecarFixture struct {
	*testbed.Scene
	*bed
	sets    client.SidecarSetInterface
	history *podhistory.History
}

func newSidecarFixture(t *testing.T, b *bed) *sidecarFixture {
	t.Helper()
	sidecars, err := client.NewForConfig(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	history := &podhistory.History{}
	return &sidecarFixture{b.NewScene(t, history.Observe), b, sidecars.SidecarSets(), history}
}

// sidecarSet returns a SidecarSet of the namespace, whose name begins so.
func (s *sidecarFixture) sidecarSet(name string) *v1alpha1.SidecarSet {
	return &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: name + "-" + s.Namespace}, Spec: v1alpha1.SidecarSetSpec{
		Namespace: s.Namespace, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Containers:           []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:1"}}},
		RevisionHistoryLimit: new(int32(1)),
	}}
}

// run creates a SidecarSet, and returns what was stored when the API server asks about its pods.
func (s *sidecarFixture) run(set *v1alpha1.SidecarSet) *v1alpha1.SidecarSet {
	s.Helper()
	stored, err := s.sets.Create(s.Context(), set, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create SidecarSet %s: %v", set.Name, err)
	}
	s.Cleanup(func() { _ = s.sets.Delete(context.Background(), set.Name, metav1.DeleteOptions{}) })
	s.AwaitAsking("the webhook is asked about the pods", func() string {
		pod, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("asked", webPod), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(pod.Annotations[v1alpha1.SidecarSetInjectedListAnnotation], set.Name) {
			return "nothing is injected"
		}
		return ""
	})
	return stored
}

func webPod(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "web"} }

// patch changes a SidecarSet as a user does.
func (s *sidecarFixture) patch(name, patch string) {
	s.Helper()
	if _, err := s.sets.Patch(s.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		s.Fatalf("patch SidecarSet %s: %v", name, err)
	}
}

// awaitStatus waits for the numbers of a status that is about the present spec.
func (s *sidecarFixture) awaitStatus(name, want string) *v1alpha1.SidecarSet {
	s.Helper()
	var set *v1alpha1.SidecarSet
	s.AwaitAsking("the status "+want, func() string {
		var err error
		if set, err = s.sets.Get(s.Context(), name, metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		status := &set.Status
		got := fmt.Sprintf("%d matched, %d updated, %d ready, %d both", status.MatchedPods, status.UpdatedPods, status.ReadyPods, status.UpdatedReadyPods)
		if got != want || status.ObservedGeneration != set.Generation || len(status.Conditions) > 0 {
			return fmt.Sprintf("%s, generation %d of %d, %+v", got, status.ObservedGeneration, set.Generation, status.Conditions)
		}
		return ""
	})
	return set
}

// A SidecarSet is given its defaults and hashes; its container is injected into pods as they are created, and updated in
// them in place.
func TestSidecarSet(t *testing.T) {
	t.Parallel()
	s := newSidecarFixture(t, steady)
	set := s.run(s.sidecarSet("log"))
	if hash := set.Annotations[v1alpha1.SidecarSetHashAnnotation]; len(hash) != 64 || set.Spec.UpdateStrategy.MaxUnavailable.IntValue() != 1 ||
		set.Spec.Containers[0].PodInjectPolicy != v1alpha1.BeforeAppContainerType {
		s.Errorf("SCS-W1: expected hashes and defaults, observed %q and %+v", hash, set.Spec)
	}

	names := []string{"web-0", "web-1", "web-2"}
	before := map[string]*corev1.Pod{}
	for _, name := range names {
		pod, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod(name, webPod), metav1.CreateOptions{})
		if err != nil {
			s.Fatalf("create pod %s: %v", name, err)
		}
		before[name] = pod
		if got := containersOf(pod); !slices.Equal(got, []string{"log=log:1", "main=web:1"}) {
			s.Errorf("SCS-W5: expected log and main in pod %s, observed %v", name, got)
		}
	}
	if _, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("db"), metav1.CreateOptions{}); err != nil {
		s.Fatalf("create pod db: %v", err)
	}
	s.awaitStatus(set.Name, "3 matched, 3 updated, 3 ready, 3 both")

	s.patch(set.Name, `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v2"}},"spec":{"containers":[{"name":"log","image":"log:2"}],"updateStrategy":{"maxUnavailable":2}}}`)
	set = s.awaitStatus(set.Name, "3 matched, 3 updated, 3 ready, 3 both")
	for _, name := range names {
		s.AwaitPod(name, "SCS-11: log:2 runs in the pod", func(pod *corev1.Pod) string {
			if got := containersOf(pod); pod.UID != before[name].UID || !slices.Equal(got, []string{"log=log:2", "main=web:1"}) || !readiness.Ready(pod) {
				return fmt.Sprint(got, " ready ", readiness.Ready(pod))
			}
			return ""
		})
	}
	for _, pod := range s.Pods.All() {
		for _, status := range pod.Status.ContainerStatuses {
			if status.Name == "main" && status.RestartCount > 0 {
				s.Errorf("SCS-11: main of pod %s was restarted", pod.Name)
			}
		}
	}
	s.patch(set.Name, `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v3"}}}`)
	s.AwaitAsking("SCS-R4, SCS-R5: the latest revision alone, with the custom version", func() string {
		list, err := s.Core.AppsV1().ControllerRevisions(sidecarset.DefaultRevisionNamespace).List(s.Context(),
			metav1.ListOptions{LabelSelector: v1alpha1.SidecarSetNameLabel + "=" + set.Name})
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, r := range list.Items {
			got = append(got, r.Name+" "+r.Labels[v1alpha1.SidecarSetCustomVersionLabel])
		}
		if want := []string{set.Status.LatestRevision + " v3"}; !slices.Equal(got, want) {
			return fmt.Sprint(got)
		}
		return ""
	})
}

func containersOf(pod *corev1.Pod) (containers []string) {
	for _, c := range pod.Spec.Containers {
		containers = append(containers, c.Name+"="+c.Image)
	}
	return containers
}

// What is wrong with a SidecarSet is refused, with the names of both if two are in conflict.
func TestSidecarSetAdmission(t *testing.T) {
	t.Parallel()
	s := newSidecarFixture(t, steady)
	first := s.run(s.sidecarSet("log"))
	for _, test := range []struct {
		name string
		edit func(*v1alpha1.SidecarSet)
		want string
	}{
		{"SCS-W3: a conflict", func(*v1alpha1.SidecarSet) {}, "container log already exist in " + first.Name},
		{"SCS-W3: no such revision", func(set *v1alpha1.SidecarSet) {
			set.Spec.Containers[0].Name = "other"
			set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{CustomVersion: new("v9")}
		}, "has no revision with the label"},
		{"SCS-W2: annotations that no list allows", func(set *v1alpha1.SidecarSet) {
			set.Spec.Containers[0].Name = "other"
			set.Spec.PatchPodMetadata = []v1alpha1.SidecarSetPatchPodMetadata{{Annotations: map[string]string{"a": "b"}}}
		}, "no rule of SidecarSet_PatchPodMetadata_WhiteList"},
		{"SCS-W4: what the API server says of containers", func(set *v1alpha1.SidecarSet) {
			set.Spec.Containers[0].Name = "other"
			set.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 70000}}
		}, "spec.containers[0].ports[0].containerPort"},
	} {
		set := s.sidecarSet("second")
		test.edit(set)
		_, err := s.sets.Create(s.Context(), set, metav1.CreateOptions{})
		status, ok := err.(apierrors.APIStatus)
		if !ok || status.Status().Code != http.StatusInternalServerError || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), set.Name) {
			s.Errorf("%s: expected the code 500, %s and %q, observed %v", test.name, set.Name, test.want, err)
		}
	}
}
