// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// play plays a story with the controller.
func play(t *testing.T, story func(*fixture.Cluster)) {
	t.Helper()
	var c *fixture.Cluster
	var controller podreadiness.Controller
	resource := fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")
	fixture.Play(t, resource, func(cluster *fixture.Cluster) {
		c = cluster
		var err error
		controller, err = podreadiness.New(podreadiness.Options{Kubernetes: c.Client(fixture.ControllerUser), Pods: c.PodInformer()})
		c.Must(err)
	}, func(*testing.T) {
		defer c.Start(controller.Run)()
		c.ForgetRequests()
		story(c)
	})
}

func create(c *fixture.Cluster, edits ...func(*corev1.Pod)) {
	c.T.Helper()
	pod := gated(edits...)
	pod.ObjectMeta = metav1.ObjectMeta{Name: pod.Name, OwnerReferences: pod.OwnerReferences}
	c.CreatePod(pod)
}

// ready checks whether the pod is in service, and what the controller has sent.
func ready(c *fixture.Cluster, want bool, requests ...string) {
	c.T.Helper()
	c.KubeletStep()
	pod := c.Pods()[0]
	if got := readiness.Ready(&pod); got != want {
		c.T.Errorf("ready: %v, want %v", got, want)
	}
	if diff := cmp.Diff(strings.Join(requests, ", "), strings.Join(c.Sent(), ", ")); diff != "" {
		c.T.Errorf("requests (-want +got):\n%s", diff)
	}
	c.ForgetRequests()
}

// One write a pod, and none for a pod that has been taken out of service since.
func TestOneWrite(t *testing.T) {
	play(t, func(c *fixture.Cluster) {
		create(c)
		c.Sleep("1s")
		ready(c, true, "1 patch pods/status")
		c.PatchPod("web-0", `{"status":{"conditions":[{"type":"KruisePodReady","status":"False"}]}}`, "status")
		c.Heartbeats()
		ready(c, false)
		c.RemovePod("web-0")
		c.Sleep("1m")
		c.ForgetRequests()
		create(c)
		c.Sleep("1s")
		ready(c, true, "1 patch pods/status")
	})
}

// PR-3: also when a running pod loses it.
func TestConditionDisappears(t *testing.T) {
	play(t, func(c *fixture.Cluster) {
		create(c)
		c.Sleep("1s")
		ready(c, true, "1 patch pods/status")
		c.PatchPod("web-0", `{"status":{"conditions":[{"type":"KruisePodReady","$patch":"delete"}]}}`, "status")
		c.Sleep("1s")
		ready(c, true, "1 patch pods/status")
	})
}

// What a workload does by itself is not done twice, and is done if it does not.
func TestLeftToOwner(t *testing.T) {
	play(t, func(c *fixture.Cluster) {
		create(c, ownedBy("apps.kruise.io/v1alpha1", "CloneSet"))
		c.PatchPod("web-0", `{"status":{"conditions":[{"type":"KruisePodReady","status":"True"}]}}`, "status")
		c.Sleep("1m")
		ready(c, true)
		c.RemovePod("web-0")

		create(c, ownedBy("apps.kruise.io/v1alpha1", "CloneSet"))
		c.Sleep("8s")
		ready(c, false)
		c.Sleep("3s")
		ready(c, true, "1 patch pods/status")
	})
}

// PR-3: another writer is faster.
func TestConflict(t *testing.T) {
	play(t, func(c *fixture.Cluster) {
		create(c, ownedBy("apps.kruise.io/v1alpha1", "CloneSet"))
		c.KubeletStep() // it is running
		pods := c.Kube.CoreV1().Pods(fixture.Web.Namespace)
		once, happened := fixture.Once(fixture.Fail("patch pods/status", fixture.ErrInternal))
		c.FailBefore(func(r fakecluster.Request) error {
			if once(r) != nil { // no error, but a pod that has changed
				_, err := pods.Patch(c.T.Context(), "web-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
				return err
			}
			return nil
		})
		c.Sleep("11s")
		if !happened() {
			t.Fatal("the story did not come so far")
		}
		ready(c, true, "2 patch pods/status")
	})
}

// A pod that goes before the write is no error.
func TestPodGone(t *testing.T) {
	play(t, func(c *fixture.Cluster) {
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "patch pods/status" && r.User == fixture.ControllerUser {
				return c.Kube.CoreV1().Pods(fixture.Web.Namespace).Delete(c.T.Context(), "web-0", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			}
			return nil
		})
		create(c)
		c.Sleep("1m")
		if diff := cmp.Diff([]string{"1 patch pods/status"}, c.Sent()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}
