// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// forge creates a request as a user does if no webhook is called: every field
// and label is the user's.
func (n *node) forge(name, pod string, edits ...edit) {
	n.Helper()
	r := newRequest(name, edits...)
	r.Namespace, r.UID, r.ResourceVersion, r.CreationTimestamp = "default", "", "", metav1.Time{}
	r.Spec.PodName = pod
	_, err := n.requests.Create(n.Context(), r, metav1.CreateOptions{})
	n.Must(err)
}

// names returns the edit that has a request name a pod by its UID, and one of its
// containers by its ID.
func names(uid, container, id string) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		r.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel] = uid
		c := meant(container, id)
		c.PreStop = hook("steal", "secrets")
		r.Spec.Containers = []v1alpha1.ContainerRecreateRequestContainer{c}
	}
}

// CRR-5.3.10: with webhooks off, a request in one namespace does nothing to a pod of
// another namespace. That holds even if it also names a pod of its own.
func TestStoryOtherNamespace(t *testing.T) {
	for name, pod := range map[string]string{"a pod that does not exist": "dns-0", "a pod of the user's own": "web-0"} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.stopManager() // which would end some of the requests, sooner or later
				n.pod("web-0")
				victim := &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "dns-0", UID: "dns"},
					Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "dns", Image: "dns:1"}}},
				}
				n.Must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(victim))
				n.start()
				n.forge("r", pod, names("dns", "dns", "dns-3"), forced)
				n.Sleep(time.Minute)
				n.Want("nothing is run or stopped", nil, n.stops())
				n.is("r", "Completed: the containers belong to another pod")
				n.Want("nor told of", nil, n.events.All())
			})
		})
	}
}

// CRR-5.3.10: a static pod is left alone, with the UID that the kubelet gave it.
func TestStoryStaticPod(t *testing.T) {
	play(t, func(n *node) {
		n.stopManager()
		static := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "etcd-node-1", UID: "4711", Annotations: map[string]string{"kubernetes.io/config.source": "file"}},
			Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "etcd", Image: "etcd:1"}}},
		}
		n.Must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(static))
		n.start()
		n.forge("r", "etcd-node-1", names("4711", "etcd", "etcd-1"))
		n.Sleep(time.Minute)
		n.Want("nothing is run or stopped", nil, n.stops())
		n.is("r", "Completed: containers of static pods are not recreated")
	})
}

// CRR-5.5.3: the hook that runs is the one that the kubelet knows, with its ports.
// What a request says of hooks is not looked at.
func TestStoryHookOfTheKubelet(t *testing.T) {
	for name, test := range map[string]struct {
		pod  func(*corev1.Pod)
		want []string
	}{
		"none":    {func(*corev1.Pod) {}, []string{"StopContainer main-1 30s"}},
		"another": {func(pod *corev1.Pod) { pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("env")} }, []string{"ExecSync main-1 env", "StopContainer main-1 30s"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.pod("web-0", test.pod)
				n.start()
				n.forge("r", "web-0", names(string(n.getPod("web-0").UID), "main", "main-1"))
				n.work(10 * time.Second)
				n.Want("stop", test.want, n.stops())
				n.is("r", "Completed, main Succeeded killed")
			})
		})
	}
}

// CRR-5.5.3: of what is not readable of a hook nothing runs, and the container is
// stopped all the same.
func TestUnreadableHook(t *testing.T) {
	s := running("main m1")
	s.Containers[0].Annotations = map[string]string{nodeagent.PreStopAnnotation: "{"}
	s.Requests = []*v1alpha1.ContainerRecreateRequest{newRequest("r", names("u", "main", "m1"))}
	got, err := s.toStop(&Stop{Container: "main", ID: "m1"})
	if err == nil || !strings.Contains(err.Error(), nodeagent.PreStopAnnotation) || got.PreStop != nil || got.ID != "m1" || got.SandboxID != "box" {
		t.Errorf("%+v, error %v", got, err)
	}
}
