// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// If no webhook fills requests in, they say what their author likes. The agent believes what the kubelet has told the
// runtime. It leaves alone the containers of other namespaces, of other nodes, and of static pods, whose pod in the API is
// a mirror. The real request of the same namespace is done.
func TestForgedRequests(t *testing.T) {
	s, victim := newScene(t), newScene(t)
	own := s.pod("web", []string{"main=" + endsAtOnce})
	secret := victim.pod("web", []string{"main=" + endsAtOnce})
	elsewhere := s.pod("elsewhere", []string{"main=" + endsAtOnce}, func(pod *corev1.Pod) { pod.Spec.NodeName = nodeName(1) })
	static, staticUID := s.static("static")
	manager := withoutWebhooks(t)

	s.endsUndone("another namespace", s.forge(nodeName(0), "web", secret.UID, podstate.ContainerStatus(secret, "main").ContainerID), v1alpha1.ContainerRecreateMessageForeignPod)
	s.endsUndone("another name", s.forge(nodeName(0), "other", own.UID, podstate.ContainerStatus(own, "main").ContainerID), v1alpha1.ContainerRecreateMessageForeignPod)
	s.endsUndone("a static pod", s.forge(nodeName(0), static.Name, staticUID, podstate.ContainerStatus(static, "main").ContainerID), v1alpha1.ContainerRecreateMessageStaticPod)
	s.findsNothing(s.forge(nodeName(0), static.Name, static.UID, podstate.ContainerStatus(static, "main").ContainerID)) // the UID of the mirror
	s.findsNothing(s.forge(nodeName(0), "elsewhere", elsewhere.UID, podstate.ContainerStatus(elsewhere, "main").ContainerID))
	if err := manager.Start(); err != nil { // it tells agents which containers are ready
		t.Fatal(err)
	}
	s.completed(s.forge(nodeName(0), "web", own.UID, podstate.ContainerStatus(own, "main").ContainerID), own)

	for _, pod := range []*corev1.Pod{secret, elsewhere, static} {
		now, err := bed.Core.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if before, after := podstate.ContainerStatus(pod, "main"), podstate.ContainerStatus(now, "main"); after.ContainerID != before.ContainerID || after.RestartCount != 0 || after.State.Running == nil {
			t.Errorf("pod %s/%s: container %+v is now %+v", pod.Namespace, pod.Name, before, after)
		}
	}
}

// forge creates a request with what else the webhook fills in, to have the container main of a pod recreated.
func (s *scene) forge(node, pod string, uid types.UID, container string) *v1alpha1.ContainerRecreateRequest {
	s.Helper()
	r, err := lifecycle.ContainerRecreateRequests(s.Namespace).Create(s.Context(), &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "forged-", Labels: map[string]string{
			v1alpha1.ContainerRecreateRequestNodeNameLabel: node, v1alpha1.ContainerRecreateRequestPodUIDLabel: string(uid),
			v1alpha1.ContainerRecreateRequestActiveLabel: "true"}},
		Spec: v1alpha1.ContainerRecreateRequestSpec{PodName: pod, Strategy: &v1alpha1.ContainerRecreateRequestStrategy{}, Containers: []v1alpha1.ContainerRecreateRequestContainer{{
			Name: "main", StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: container}}}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// endsUndone waits until the agent has ended a request, for a reason and without having done anything.
func (s *scene) endsUndone(what string, r *v1alpha1.ContainerRecreateRequest, message string) {
	s.Helper()
	r = s.ends(r)
	if r.Status.Message != message {
		s.Errorf("%s: message %q, want %q", what, r.Status.Message, message)
	}
	for _, state := range r.Status.ContainerRecreateStates {
		if state.IsKilled || state.Phase == v1alpha1.ContainerRecreateRequestSucceeded {
			s.Errorf("%s: %+v", what, r.Status)
		}
	}
}

// findsNothing waits until the agent says that the node has no container for a request, which a manager would end.
func (s *scene) findsNothing(r *v1alpha1.ContainerRecreateRequest) {
	s.Helper()
	s.awaitRequest(r, "no such container", func(r *v1alpha1.ContainerRecreateRequest) string {
		states := r.Status.ContainerRecreateStates
		if len(states) != 1 || states[0].IsKilled || states[0].Message != "not found container on Node" {
			return fmt.Sprintf("%+v", r.Status)
		}
		return ""
	})
}

// static has the kubelet of the first node run a static pod, and returns its mirror, and the UID that the kubelet gives it.
func (s *scene) static(name string) (mirror *corev1.Pod, uid types.UID) {
	s.Helper()
	image, _ := s.image("shell", registry.Image{})
	manifest, err := json.Marshal(&corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: shells(image, "main="+endsAtOnce), TerminationGracePeriodSeconds: new(int64(1))},
	})
	if err != nil {
		s.Fatal(err)
	}
	file := filepath.Join(bed.Agents[0].Node.StaticPods(), s.Namespace+".json")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.Remove(file) })
	mirror = s.AwaitPod(name+"-"+nodeName(0), "all containers are ready", containersReady)
	return mirror, types.UID(mirror.Annotations["kubernetes.io/config.hash"])
}

// withoutWebhooks has no webhook fill requests in, or refuse them, until the test ends. It returns a manager, not yet started, that
// does not either.
func withoutWebhooks(t *testing.T) *testbed.Manager {
	t.Helper()
	manager := bed.Manager.With("--enable-webhooks=false")
	bed.Manager.Kill()
	registrations := bed.Core.AdmissionregistrationV1()
	if err := errors.Join(
		registrations.MutatingWebhookConfigurations().Delete(t.Context(), podwrightmanager.MutatingName, metav1.DeleteOptions{}),
		registrations.ValidatingWebhookConfigurations().Delete(t.Context(), podwrightmanager.ValidatingName, metav1.DeleteOptions{})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		manager.Kill()
		startAgain(t, bed.Manager)
	})
	return manager
}
