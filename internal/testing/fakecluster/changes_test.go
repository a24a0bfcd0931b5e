// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestChanges: everything that happened can be read without a watch.
func TestChanges(t *testing.T) {
	f := newFixture(t)
	pods := f.kube.CoreV1().Pods("shop")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	start := f.NewestVersion()
	f.pod()
	created := f.NewestVersion()
	_, err := pods.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	must(err)
	must(pods.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	f.Bookmark("pods")

	show := func(changes []fakecluster.Change) (lines []string) {
		for _, c := range changes {
			lines = append(lines, fmt.Sprintf("%d %s %v gone %t", c.Version-start, c.Object.GetName(), c.Object.GetLabels(), c.Gone))
		}
		return lines
	}
	want := []string{"1 web map[app:web] gone false", "2 web map[a:b app:web] gone false", "3 web map[a:b app:web] gone true"}
	if diff := cmp.Diff(want, show(f.Changes("pods", start))); diff != "" {
		t.Errorf("all changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], show(f.Changes("pods", created))); diff != "" {
		t.Errorf("changes after the creation (-want +got):\n%s", diff)
	}
}

// TestOnlyMetadata: who asks for no more than metadata gets no more.
func TestOnlyMetadata(t *testing.T) {
	f := newFixture(t)
	f.pod()
	answer, err := f.kube.CoreV1().RESTClient().Get().Namespace("shop").Resource("pods").Name("web").
		SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(answer); !strings.Contains(got, `"kind":"PartialObjectMetadata"`) || !strings.Contains(got, `"name":"web"`) || strings.Contains(got, "spec") {
		t.Errorf("answer %s", got)
	}
}

// TestKubeletWithoutRequests: a kubelet that writes to the server directly does
// the same, and sends nothing.
func TestKubeletWithoutRequests(t *testing.T) {
	f := newFixture(t)
	pods := f.kube.CoreV1().Pods("shop")
	f.pod()
	kubelet := &fakecluster.Kubelet{Client: f.kube, Server: f.Server, Clock: f.clock}
	if err := kubelet.Sync(t.Context(), "shop", "web"); err != nil {
		t.Fatal(err)
	}
	f.ForgetRequests()
	pod, err := pods.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName == "" {
		t.Fatalf("error %v, pod %+v", err, pod)
	}
	before := pod.DeepCopy()
	pod.Spec.Containers[0].Image = "web:2"
	if err := kubelet.SyncPod(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Status, pod.Status); diff != "" {
		t.Errorf("the pod that was passed has changed: %s", diff)
	}
	if n := f.Count("")["update pods/status"]; n != 0 {
		t.Errorf("%d requests", n)
	}
	if err := kubelet.Sync(t.Context(), "shop", "other"); err != nil {
		t.Errorf("a pod that does not exist: %v", err)
	}
	pod, err = pods.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || pod.Status.ContainerStatuses[0].RestartCount != 1 {
		t.Errorf("error %v, containers %+v", err, pod.Status.ContainerStatuses)
	}
}
