// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// nativeSidecars has native sidecars be updated in place.
const nativeSidecars = ",SidecarSetNativeSidecars=true"

// startsIn is how long the native sidecar of the test takes until its startup probe succeeds.
const startsIn = 3 * time.Second

// SCI-42, SCS-40: a SidecarSet injects a native sidecar, and updates its image in place. The kubelets restart that container alone, in the
// same pods. This kubelet restarts a native sidecar, and says at once that it has started and is ready, before its startup probe has
// succeeded anew. So it is not judged here when the second pod is updated: TestStartupProbe of package sidecarset has that wait. (IP-45)
func TestNativeSidecarIsUpdated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	sidecars, err := client.NewForConfig(bed.Config())
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.image("v1", registry.Image{})
	second, _ := s.image("v2", registry.Image{})
	set := nativeSet(s.Namespace, first)
	if _, err := sidecars.SidecarSets().Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sidecars.SidecarSets().Delete(context.Background(), set.Name, metav1.DeleteOptions{}) })
	s.AwaitAsking("the webhook is asked about the pods", func() string {
		asked := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "asked", Labels: set.Spec.Selector.MatchLabels}, Spec: corev1.PodSpec{Containers: shells(first, "main=true")}}
		pod, err := bed.Core.CoreV1().Pods(s.Namespace).Create(t.Context(), asked, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || len(pod.Spec.InitContainers) == 0 {
			return fmt.Sprintf("nothing is injected, error %v", err)
		}
		return ""
	})
	labelled := func(pod *corev1.Pod) { pod.Labels = set.Spec.Selector.MatchLabels }
	before := []*corev1.Pod{s.nativePod("web-0", first, labelled), s.nativePod("web-1", first, labelled)}
	awaitNatives(s, sidecars, set.Name)

	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/initContainers/0/image","value":%q}]`, second)
	if _, err := sidecars.SidecarSets().Patch(t.Context(), set.Name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, was := range before {
		is := s.AwaitPod(was.Name, "the native sidecar runs the second image", func(pod *corev1.Pod) string { return nativeRuns(pod, second) })
		proxy := native(is)
		if is.UID != was.UID || proxy.RestartCount != 1 || proxy.ContainerID == native(was).ContainerID {
			t.Errorf("SCS-40: pod %s: %+v", is.Name, proxy)
		}
		if old, now := podstate.ContainerStatus(was, "main"), podstate.ContainerStatus(is, "main"); now.ContainerID != old.ContainerID || now.RestartCount != 0 {
			t.Errorf("SCS-40: pod %s: main is another container: %+v", is.Name, now)
		}
	}
	awaitNatives(s, sidecars, set.Name)
}

// awaitNatives waits until the controller has seen two pods that are updated and ready, of the present spec.
func awaitNatives(s *scene, sidecars client.Interface, name string) {
	s.Helper()
	s.AwaitAsking("the status counts both pods as updated and ready", func() string {
		set, err := sidecars.SidecarSets().Get(s.Context(), name, metav1.GetOptions{})
		if err != nil || set.Status.UpdatedPods != 2 || set.Status.UpdatedReadyPods != 2 || set.Status.ObservedGeneration != set.Generation {
			return fmt.Sprintf("%v %+v", err, set.Status)
		}
		return ""
	})
}

// nativeSet is a SidecarSet of a native sidecar with a startup probe.
func nativeSet(namespace, image string) *v1alpha1.SidecarSet {
	always := corev1.ContainerRestartPolicyAlways
	proxy := shells(image, fmt.Sprintf("proxy=trap 'exit 0' TERM; sleep %d; : > /started; while :; do sleep 0.1; done", int(startsIn.Seconds())))[0]
	proxy.RestartPolicy = &always
	proxy.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/started"}}}, PeriodSeconds: 1, FailureThreshold: 100}
	return &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "native-" + namespace}, Spec: v1alpha1.SidecarSetSpec{
		Namespace: namespace, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "native"}},
		InitContainers: []v1alpha1.SidecarContainer{{Container: proxy}},
	}}
}

// nativePod creates a pod, and returns it when the native sidecar that was injected runs an image, and all is ready.
func (s *scene) nativePod(name, image string, edit func(*corev1.Pod)) *corev1.Pod {
	s.Helper()
	s.create(name, []string{"main=" + endsAtOnce}, edit)
	return s.AwaitPod(name, "the native sidecar runs", func(pod *corev1.Pod) string {
		if why := nativeRuns(pod, image); why != "" {
			return why
		}
		return containersReady(pod)
	})
}

// nativeRuns says why the native sidecar does not run an image, started and ready; empty if it does.
func nativeRuns(pod *corev1.Pod, image string) string {
	c := native(pod)
	if c.State.Running == nil || !strings.HasSuffix(c.Image, image) || c.Started == nil || !*c.Started || !c.Ready {
		return fmt.Sprintf("%s: %+v", podstate.Describe(pod, false), c)
	}
	return ""
}

// native is the status of the native sidecar of a pod.
func native(pod *corev1.Pod) corev1.ContainerStatus {
	for _, c := range pod.Status.InitContainerStatuses {
		if c.Name == "proxy" {
			return c
		}
	}
	return corev1.ContainerStatus{}
}
